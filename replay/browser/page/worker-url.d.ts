/** Vite builds the module as a Worker; the value is its URL. */
declare module '*?worker&url' {
  const url: string;
  // biome-ignore lint/style/noDefaultExport: that is what Vite makes.
  export default url;
}
