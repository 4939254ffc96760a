/** Events that wait for a batch, in order. A session is in one batch at a time, and its events keep their order. */

/** What the queue needs to know of a job. */
interface Queued {
  /** The session; jobs with the same key are never in two batches at once. */
  readonly key: string
  readonly event: { readonly project: string }
  readonly bytes: number
  /** A batch has jobs of one lane. */
  readonly lane: number
  /** The node that commits the lane. */
  readonly node: number
}

/** Projects in a batch. A storage appends the events of each project in statements of their own, which take time on a network. */
const maxProjects = 16

export class CommitQueue<Job extends Queued> {
  readonly #maxBatch: { readonly events: number; readonly bytes: number }
  #jobs: Array<Job> = []
  /** Sessions that are in a batch. */
  readonly #busy = new Set<string>()
  readonly #maxOfNode: number
  /** Batches that were taken and not released, by their nodes. */
  readonly #batches = new Map<number, number>()

  /** `maxOfNode` is how many batches of one node are taken at a time. */
  constructor(maxBatch: { readonly events: number; readonly bytes: number }, maxOfNode = Number.POSITIVE_INFINITY) {
    this.#maxBatch = maxBatch
    this.#maxOfNode = maxOfNode
  }

  get size(): number {
    return this.#jobs.length
  }

  push(job: Job): void {
    this.#jobs.push(job)
  }

  /**
   * Takes the next batch out of the queue: the oldest job that is ready, if there is one, and the next of its lane. Their sessions are
   * busy until `release`.
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
      if (fits && this.#isReady(job) && !skipped.has(job.key)) {
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
    this.#count(batch, 1)
    return batch
  }

  /** A batch has ended: its sessions may be in another one. */
  release(batch: ReadonlyArray<Job>): void {
    for (const { key } of batch) this.#busy.delete(key)
    this.#count(batch, -1)
  }

  #count([job]: ReadonlyArray<Job>, added: number): void {
    if (job !== undefined) this.#batches.set(job.node, (this.#batches.get(job.node) ?? 0) + added)
  }

  /** Whether it waits neither for a batch of its own session, nor for the others of its node. */
  #isReady({ key, node }: Job): boolean {
    return !this.#busy.has(key) && (this.#batches.get(node) ?? 0) < this.#maxOfNode
  }

  /** Takes out the jobs that satisfy the predicate. */
  remove(predicate: (job: Job) => boolean): ReadonlyArray<Job> {
    const removed = this.#jobs.filter(predicate)
    if (removed.length > 0) this.#jobs = this.#jobs.filter((job) => !predicate(job))
    return removed
  }

  /** Whether a job satisfies the predicate that waits for a batch, and not for others of its own session or node. */
  hasReady(predicate: (job: Job) => boolean): boolean {
    return this.#jobs.some((job) => predicate(job) && this.#isReady(job))
  }
}
