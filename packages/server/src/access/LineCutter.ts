/** Cuts bytes into whole lines, and remembers what the last ones were. */

const lineFeed = 0x0a

/** An id is near the beginning of its line. */
const headBytes = 300

const eventId = /"event_id":"([0-9a-f-]{36})"/
const lineType = /"type":"([a-z-]+)"/
const unsettled = /"event_id":"[0-9a-f-]{36}","settled":false/

export class LineCutter {
  /** Lines so far, and the events among them. */
  lines = 0
  events = 0
  /** Events that an export could not read. */
  damaged = 0
  /** The last event after which an export can be continued; undefined if there was none. */
  lastEvent: string | undefined
  /** Whether the last line says that the export is whole. */
  isWhole = false
  #rest: Array<Uint8Array> = []
  /** The counts as they were after the last event that had settled. */
  #settled = { lines: 0, events: 0, damaged: 0 }

  /** The lines that these bytes complete, with their line breaks; empty if none. */
  add(bytes: Uint8Array): Buffer {
    const end = bytes.lastIndexOf(lineFeed)
    if (end === -1) {
      if (bytes.length > 0) this.#rest.push(bytes)
      return Buffer.alloc(0)
    }
    const whole = Buffer.concat([...this.#rest, bytes.subarray(0, end + 1)])
    this.#rest = end + 1 < bytes.length ? [bytes.subarray(end + 1)] : []
    for (let start = 0; start < whole.length;) {
      const next = whole.indexOf(lineFeed, start) + 1
      this.#see(whole.toString("latin1", start, Math.min(next, start + headBytes)))
      start = next
    }
    return whole
  }

  /** What is left after the last line break, as a line. */
  end(): Buffer {
    return this.#rest.length === 0 ? Buffer.alloc(0) : this.add(Buffer.of(lineFeed))
  }

  /** Forgets the beginning of a line, and what comes again where an export is continued. */
  drop(): void {
    this.#rest = []
    Object.assign(this, this.#settled)
  }

  #see(head: string): void {
    this.lines++
    const type = lineType.exec(head)?.[1]
    this.isWhole = type === "end"
    if (type === "event") this.events++
    if (type === "damaged") this.damaged++
    if ((type === "event" || type === "damaged") && !unsettled.test(head)) {
      this.lastEvent = eventId.exec(head)?.[1] ?? this.lastEvent
      this.#settled = { lines: this.lines, events: this.events, damaged: this.damaged }
    }
  }
}
