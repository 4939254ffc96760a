/**
 * The limit of a thread's heap. V8 has one of its own, but where a single native call crosses it, such as `JSON.parse` of a large
 * text, V8 ends the whole process. So V8's limit is further away, and the thread ends itself.
 */
import { constants, PerformanceObserver } from "node:perf_hooks"
import { getHeapStatistics } from "node:v8"

/** More than one native call takes: `JSON.parse` takes up to about 15 times the length of its text (MiB). */
const reserveMib = 512

const mib = 1024 * 1024

/** V8's limit (MiB). */
export const ofV8 = (heapMib: number): number => heapMib + reserveMib

/** Throws in a turn of its own when the heap has more than `heapMib` after a garbage collection, which ends the thread. */
export const enforce = (heapMib: number): void => {
  const observer = new PerformanceObserver((list) => {
    const isCollected = list.getEntries().some((entry) => {
      const { detail } = entry as unknown as { readonly detail: { readonly kind: number } }
      return detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR
    })
    if (isCollected && getHeapStatistics().used_heap_size > heapMib * mib) {
      throw new Error(`Its heap has more than ${heapMib} MiB`)
    }
  })
  observer.observe({ entryTypes: ["gc"] })
}
