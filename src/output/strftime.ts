// strftime(3) with the C locale, plus bpftrace's %f (microseconds).

const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
const dayMilliseconds = 86_400_000;

/** Formats local time, or UTC. `microseconds` is the part below a second. */
export function strftime(format: string, epochMilliseconds: number, microseconds: number, utc = false): string {
  const time = Math.floor(epochMilliseconds / 1000) * 1000;
  const date = utc ? new UtcDate(time) : new Date(time);
  return format.replace(
    /%([EO_0^#-]?)([a-zA-Z%+])/g,
    (whole, _flag: string, letter: string) => field(letter, date, microseconds) ?? whole,
  );
}

/** A date whose local time is UTC. */
class UtcDate extends Date {
  override getFullYear = (): number => this.getUTCFullYear();
  override getMonth = (): number => this.getUTCMonth();
  override getDate = (): number => this.getUTCDate();
  override getDay = (): number => this.getUTCDay();
  override getHours = (): number => this.getUTCHours();
  override getMinutes = (): number => this.getUTCMinutes();
  override getTimezoneOffset = (): number => 0;
  override toString = (): string => "(Coordinated Universal Time)";
}

function field(letter: string, date: Date, microseconds: number): string | undefined {
  const at = (format: string) => strftime(format, date.getTime(), microseconds, date instanceof UtcDate);
  const hour12 = date.getHours() % 12 || 12;
  switch (letter) {
    case "a":
      return days[date.getDay()].slice(0, 3);
    case "A":
      return days[date.getDay()];
    case "b":
    case "h":
      return months[date.getMonth()].slice(0, 3);
    case "B":
      return months[date.getMonth()];
    case "c":
      return at("%a %b %e %H:%M:%S %Y");
    case "C":
      return pad(Math.floor(date.getFullYear() / 100));
    case "d":
      return pad(date.getDate());
    case "D":
    case "x":
      return at("%m/%d/%y");
    case "e":
      return String(date.getDate()).padStart(2);
    case "f":
      return pad(microseconds, 6);
    case "F":
      return at("%Y-%m-%d");
    case "g":
      return pad(isoWeek(date).year % 100);
    case "G":
      return String(isoWeek(date).year);
    case "H":
      return pad(date.getHours());
    case "I":
      return pad(hour12);
    case "j":
      return pad(dayOfYear(date) + 1, 3);
    case "k":
      return String(date.getHours()).padStart(2);
    case "l":
      return String(hour12).padStart(2);
    case "m":
      return pad(date.getMonth() + 1);
    case "M":
      return pad(date.getMinutes());
    case "n":
      return "\n";
    case "p":
      return date.getHours() < 12 ? "AM" : "PM";
    case "P":
      return date.getHours() < 12 ? "am" : "pm";
    case "r":
      return at("%I:%M:%S %p");
    case "R":
      return at("%H:%M");
    case "s":
      return String(Math.floor(date.getTime() / 1000));
    case "S":
      return pad(date.getSeconds());
    case "t":
      return "\t";
    case "T":
    case "X":
      return at("%H:%M:%S");
    case "u":
      return String(date.getDay() || 7);
    case "U":
      return pad(Math.floor((dayOfYear(date) + 7 - date.getDay()) / 7));
    case "V":
      return pad(isoWeek(date).week);
    case "w":
      return String(date.getDay());
    case "W":
      return pad(Math.floor((dayOfYear(date) + 7 - ((date.getDay() + 6) % 7)) / 7));
    case "y":
      return pad(date.getFullYear() % 100);
    case "Y":
      return String(date.getFullYear());
    case "z":
      return zone(date);
    case "Z":
      return zoneName(/\(([^)]+)\)$/.exec(date.toString())?.[1] ?? "");
    case "%":
      return "%";
    default:
      return undefined;
  }
}

function pad(value: number, width = 2): string {
  return String(value).padStart(width, "0");
}

function dayOfYear(date: Date): number {
  const start = Date.UTC(date.getFullYear(), 0, 1);
  return Math.round((Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) - start) / dayMilliseconds);
}

/** ISO 8601: the week that holds the year's first Thursday is week 1. */
function isoWeek(date: Date): { year: number; week: number } {
  const thursday = new Date(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate() + 4 - (date.getDay() || 7)));
  const start = Date.UTC(thursday.getUTCFullYear(), 0, 1);
  return { year: thursday.getUTCFullYear(), week: Math.floor((thursday.getTime() - start) / dayMilliseconds / 7) + 1 };
}

function zone(date: Date): string {
  const minutes = -date.getTimezoneOffset();
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${pad(Math.floor(size / 60))}${pad(size % 60)}`;
}

/** The letters that a zone is known by: of Coordinated Universal Time they are not the first ones. */
function zoneName(whole: string): string {
  return whole === "Coordinated Universal Time" ? "UTC" : whole.replace(/[a-z ]/g, "");
}
