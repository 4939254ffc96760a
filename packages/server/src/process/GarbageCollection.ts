/**
 * Runs full garbage collections where V8 would wait: loading the modules leaves half of the heap unused, and a large event
 * that was read leaves several times its size outside the heap.
 */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

type Collect = (options: { readonly type: string; readonly flavor: string }) => void

let collect: Collect | undefined

/** Takes about 30 ms in a server that has just started. */
export const run = (): void => {
  if (collect === undefined) {
    // When the flag is set after startup, only new contexts have the `gc` function.
    setFlagsFromString("--expose-gc")
    collect = runInNewContext("gc") as Collect
  }
  collect({ type: "major", flavor: "last-resort" })
}
