/** What the host reads of the engine's thread without asking it: it may be busy, or stand still. */

const isSaturatedAt = 0
const beatAt = 1

export class ThreadStatus {
  readonly memory: SharedArrayBuffer
  readonly #cells: Int32Array

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(8)) {
    this.memory = memory
    this.#cells = new Int32Array(memory)
  }

  /** Whether an event that is enqueued now would probably time out. */
  get isSaturated(): boolean {
    return Atomics.load(this.#cells, isSaturatedAt) === 1
  }

  /** Changes while the thread's event loop runs and it has work. */
  get beat(): number {
    return Atomics.load(this.#cells, beatAt)
  }

  /** Called by the engine's thread. */
  update(isSaturated: boolean): void {
    Atomics.store(this.#cells, isSaturatedAt, isSaturated ? 1 : 0)
    Atomics.add(this.#cells, beatAt, 1)
  }
}
