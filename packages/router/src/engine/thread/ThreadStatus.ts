/** What the host reads of the engine's thread without asking it: it may be busy, or stand still. */

const capacityAt = 0
const beatAt = 1

/** More than any queue holds. */
const maxCapacity = 2 ** 31 - 1

export class ThreadStatus {
  readonly memory: SharedArrayBuffer
  readonly #cells: Int32Array

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(8)) {
    this.memory = memory
    this.#cells = new Int32Array(memory)
  }

  /** How many events may be queued: one more would probably time out. */
  get capacity(): number {
    return Atomics.load(this.#cells, capacityAt)
  }

  /** Changes while the thread's event loop runs and it has work. */
  get beat(): number {
    return Atomics.load(this.#cells, beatAt)
  }

  /** Called by the engine's thread. */
  update(capacity: number): void {
    Atomics.store(this.#cells, capacityAt, Math.min(capacity, maxCapacity))
    Atomics.add(this.#cells, beatAt, 1)
  }
}
