/**
 * Decides which requests enter, and counts what they hold: the bytes of bodies as they arrive, the events from a complete
 * body to their answer, and the bytes of answers until their clients have taken them. All mounts of a `Recorder` share one
 * instance. An event that announces its length and does not fit is refused before its body is read; every other body is
 * refused while it arrives. An answer is refused before it is read from the storage. It has a budget of its own, so that
 * clients that do not read cannot keep others from recording.
 *
 * One request alone is always admitted, whatever its size.
 */
import type { ProjectId } from "../domain/Project.ts"
import type { CommitLimitsValue } from "./CommitLimits.ts"

/** What an answer that is made while it is taken holds at most (bytes): in the thread that makes it, on the way, and for its client. */
const streamBytes = 256 * 1024

/** The part of all such answers that one project may have, so that others get some too. */
const maxProjectShare = 3 / 4

export class AdmissionControl {
  readonly #limits: CommitLimitsValue
  readonly #capacity: () => number
  /** Bytes of all bodies, complete or not. */
  #reservedBytes = 0
  /** Bytes of all answers that are being read or written. */
  #answerBytes = 0
  /** Bytes of all answers that are made while they are taken. */
  #streamBytes = 0
  /** The same of each project that has some. */
  readonly #projectStreamBytes = new Map<ProjectId, number>()
  #queuedEvents = 0
  #queuedBytes = 0

  /** `capacity` is how many events may be queued: one more would probably time out. */
  constructor(limits: CommitLimitsValue, capacity: () => number) {
    this.#limits = limits
    this.#capacity = capacity
  }

  /** Events whose bodies are complete and that have no answer yet, and the bytes of their bodies. */
  get queued(): { readonly events: number; readonly bytes: number } {
    return { events: this.#queuedEvents, bytes: this.#queuedBytes }
  }

  /** Bytes of the answers that are being read from the storage, or that their clients have not taken yet. */
  get answerBytes(): number {
    return this.#answerBytes
  }

  /** Answers that are being made while their clients take them. */
  get streams(): number {
    return this.#streamBytes / streamBytes
  }

  /** Whether an event of this many bytes, none of which has arrived, may enter. */
  canAdmit(bytes: number): boolean {
    return !(this.#isQueueFull(bytes) || this.#exceedsBodyBudget(this.#reservedBytes, bytes))
  }

  /** How many events may be queued: one more would probably time out. */
  get capacity(): number {
    return this.#capacity()
  }

  /** How long an event may wait (ms). */
  get waitMs(): number {
    return this.#limits.queue.waitMs
  }

  /** Whether any event that is enqueued now would probably time out. */
  wouldTimeOut(): boolean {
    return this.#capacity() === 0
  }

  /** A permit for one request, to be released when the request has its answer, or the client has taken it. */
  permit(): Permit {
    let ownBytes = 0
    let ownAnswerBytes = 0
    let streamOf: ProjectId | undefined
    let isQueued = false
    let isReleased = false
    return {
      reserve: (bytes) => {
        if (isReleased || this.#exceedsBodyBudget(this.#reservedBytes - ownBytes, bytes)) return false
        ownBytes += bytes
        this.#reservedBytes += bytes
        return true
      },
      enqueue: () => {
        if (isQueued) return true
        if (isReleased || this.#isQueueFull(ownBytes)) return false
        isQueued = true
        this.#queuedEvents++
        this.#queuedBytes += ownBytes
        return true
      },
      reserveAnswer: (bytes) => {
        if (isReleased) return false
        const added = Math.max(0, bytes - ownAnswerBytes)
        const others = this.#answerBytes - ownAnswerBytes
        if (others > 0 && this.#answerBytes + added > this.#limits.answerBudgetBytes) return false
        ownAnswerBytes += added
        this.#answerBytes += added
        return true
      },
      releaseAnswer: () => {
        this.#answerBytes -= ownAnswerBytes
        ownAnswerBytes = 0
      },
      openStream: (project) => {
        if (isReleased) return false
        if (streamOf !== undefined) return true
        if (!this.#fitsStream(project)) return false
        streamOf = project
        this.#addStreamBytes(project, streamBytes)
        return true
      },
      release: () => {
        this.#reservedBytes -= ownBytes
        this.#answerBytes -= ownAnswerBytes
        if (streamOf !== undefined) this.#addStreamBytes(streamOf, -streamBytes)
        if (isQueued) {
          this.#queuedEvents--
          this.#queuedBytes -= ownBytes
        }
        ownBytes = 0
        ownAnswerBytes = 0
        streamOf = undefined
        isQueued = false
        isReleased = true
      }
    }
  }

  /** `others` are the bytes that other requests hold. */
  #exceedsBodyBudget(others: number, bytes: number): boolean {
    return others > 0 && this.#reservedBytes + bytes > this.#limits.bodyBudgetBytes
  }

  /** One answer alone always fits. */
  #fitsStream(project: ProjectId): boolean {
    const { streamBudgetBytes } = this.#limits
    if (this.#streamBytes > 0 && this.#streamBytes + streamBytes > streamBudgetBytes) return false
    const ofProject = this.#projectStreamBytes.get(project) ?? 0
    return ofProject === 0 || ofProject + streamBytes <= streamBudgetBytes * maxProjectShare
  }

  #addStreamBytes(project: ProjectId, bytes: number): void {
    const ofProject = (this.#projectStreamBytes.get(project) ?? 0) + bytes
    if (ofProject === 0) this.#projectStreamBytes.delete(project)
    else this.#projectStreamBytes.set(project, ofProject)
    this.#streamBytes += bytes
  }

  #isQueueFull(bytes: number): boolean {
    const { queue } = this.#limits
    if (this.#queuedEvents === 0) return false
    const maxEvents = Math.min(queue.events, this.#capacity())
    return this.#queuedEvents >= maxEvents || this.#queuedBytes + bytes > queue.bytes
  }
}

export interface Permit {
  /** Counts bytes that have arrived, before they are kept. False if they exceed the budget; then they are not counted. */
  readonly reserve: (bytes: number) => boolean
  /** The body is complete and its event is to be committed. False if the queue is full. */
  readonly enqueue: () => boolean
  /**
   * Counts the bytes of the answer, before they are read from the storage or kept. False if they exceed the budget; then they
   * are not counted. Where it is called several times, the greatest number counts.
   */
  readonly reserveAnswer: (bytes: number) => boolean
  /** Gives back what `reserveAnswer` has counted: that part of an answer is taken. */
  readonly releaseAnswer: () => void
  /**
   * Counts an answer that is made while it is taken, of which a process holds the same few pieces at any time. False if there are
   * too many of them, or too many of the project's.
   */
  readonly openStream: (project: ProjectId) => boolean
  /** Gives back all that the permit holds. From now on it holds nothing: a body that still arrives is refused. Idempotent. */
  readonly release: () => void
}
