/** The address of a worker's file. */
declare module "*?worker&url" {
  const url: string
  export default url
}
