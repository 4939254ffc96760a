/** Loading the modules leaves half of the heap empty, and V8 in no hurry to give it back. */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/** Collects once, some 30 ms long, before there are requests that would wait for it. */
export const release = (): void => {
  // Without the flag from the start, only a new context has the function.
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as (options: { readonly type: string; readonly flavor: string }) => void
  collect({ type: "major", flavor: "last-resort" })
}
