/** Loading the modules leaves half of the heap unused, and V8 does not return it to the system soon. */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/** Runs one full garbage collection, which takes about 30 ms, before the server accepts requests. */
export const release = (): void => {
  // When the flag is set after startup, only new contexts have the `gc` function.
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as (options: { readonly type: string; readonly flavor: string }) => void
  collect({ type: "major", flavor: "last-resort" })
}
