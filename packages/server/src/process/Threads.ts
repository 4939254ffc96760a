/**
 * Ends the threads of the process before it exits. Node waits for each on exit, even if it is in a call of the system that does not
 * return, such as the sync of a disk that hangs. A process with such a thread ends by a signal.
 */
import type { Worker } from "node:worker_threads"

/** How long a thread may take to end (ms). */
const graceMs = 500

const running = new Set<Worker>()

/** To be called before a thread is started. */
export const watch = (): void => {
  process.on("worker", (thread) => {
    running.add(thread)
    thread.once("exit", () => running.delete(thread))
  })
}

/** Calls `exit` when no thread is running. */
export const end = async (exit: () => void): Promise<void> => {
  if (running.size === 0) return exit()
  const ended = Promise.all(Array.from(running, (thread) => thread.terminate()))
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, graceMs))])
  if (running.size === 0) return exit()
  console.error("tachograph: A thread does not end, probably because a disk hangs: the process ends by SIGTERM")
  process.removeAllListeners("SIGTERM")
  process.kill(process.pid, "SIGTERM")
}
