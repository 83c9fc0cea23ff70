/** Descriptions of types, as text: bundlers put it in. */
declare module "*.values" {
  const text: string;
  export default text;
}
