/** Loading hundreds of modules leaves half of the heap unused, and V8 does not return it to the system soon. */
import { getHeapStatistics, setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/** Less unused heap is not worth a collection, in bytes. A server bundled into one file leaves about 5 MiB. */
const minUnusedBytes = 16 * 2 ** 20

/** Runs one full garbage collection, which takes about 60 ms, before the server accepts requests. */
export const release = (): void => {
  const { total_heap_size, used_heap_size } = getHeapStatistics()
  if (total_heap_size - used_heap_size < minUnusedBytes) return
  // When the flag is set after startup, only new contexts have the `gc` function.
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as (options: { readonly type: string; readonly flavor: string }) => void
  collect({ type: "major", flavor: "last-resort" })
}
