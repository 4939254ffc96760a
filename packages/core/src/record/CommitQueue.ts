/** Events that wait for a batch, in order. A session is in one batch at a time, and its events keep their order. */

/** What the queue needs to know of a job. */
interface Queued {
  /** The session; jobs with the same key are never in two batches at once. */
  readonly key: string
  readonly event: { readonly project: string }
  readonly bytes: number
  /** A batch has jobs of one lane. */
  readonly lane: number
}

/** Projects in a batch. A storage appends the events of each project in statements of their own, which take time on a network. */
const maxProjects = 16

export class CommitQueue<Job extends Queued> {
  readonly #maxBatch: { readonly events: number; readonly bytes: number }
  #jobs: Array<Job> = []
  /** Sessions that are in a batch. */
  readonly #busy = new Set<string>()

  constructor(maxBatch: { readonly events: number; readonly bytes: number }) {
    this.#maxBatch = maxBatch
  }

  get size(): number {
    return this.#jobs.length
  }

  /** Whether a batch could be filled to its limit of events. */
  get hasFullBatch(): boolean {
    return this.#jobs.length >= this.#maxBatch.events
  }

  push(job: Job): void {
    this.#jobs.push(job)
  }

  /**
   * Takes the next batch out of the queue: the oldest job of a session that is in no batch, if there is one, and the next of its
   * lane.
   * Their sessions are busy until `release`.
   */
  takeBatch(): ReadonlyArray<Job> {
    const batch: Array<Job> = []
    const left: Array<Job> = []
    const skipped = new Set<string>()
    const projects = new Set<string>()
    let bytes = 0
    for (const job of this.#jobs) {
      const { project } = job.event
      const fits =
        batch.length === 0 ||
        (job.lane === batch[0]!.lane &&
          batch.length < this.#maxBatch.events &&
          bytes + job.bytes <= this.#maxBatch.bytes &&
          (projects.size < maxProjects || projects.has(project)))
      if (fits && !this.#busy.has(job.key) && !skipped.has(job.key)) {
        batch.push(job)
        projects.add(project)
        bytes += job.bytes
      } else {
        // Later jobs of this session stay behind it.
        skipped.add(job.key)
        left.push(job)
      }
    }
    this.#jobs = left
    for (const { key } of batch) this.#busy.add(key)
    return batch
  }

  /** A batch has ended: its sessions may be in another one. */
  release(batch: ReadonlyArray<Job>): void {
    for (const { key } of batch) this.#busy.delete(key)
  }

  /** Takes out the jobs that satisfy the predicate. */
  remove(predicate: (job: Job) => boolean): ReadonlyArray<Job> {
    const removed = this.#jobs.filter(predicate)
    if (removed.length > 0) this.#jobs = this.#jobs.filter((job) => !predicate(job))
    return removed
  }

  /** Whether a job satisfies the predicate that waits for a batch, and not for another batch of its own session. */
  hasReady(predicate: (job: Job) => boolean): boolean {
    return this.#jobs.some((job) => predicate(job) && !this.#busy.has(job.key))
  }
}
