/** Definitions in SystemTap's language, as text: bundlers put it in. */
declare module "*.stp" {
  const text: string;
  export default text;
}
