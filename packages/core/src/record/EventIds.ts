/**
 * UUIDv7 (RFC 9562, section 5.7), monotonic within the process: 48 bits of milliseconds, a 12-bit counter in `rand_a`, 54
 * random bits and the bucket of the session. If the clock steps back, the last millisecond is kept; if the counter overflows,
 * the next one is used.
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { randomFillSync } from "node:crypto"
import type { EventId } from "../domain/Event.ts"
import * as Uuid from "../domain/Uuid.ts"
import * as Bucket from "../sessions/Bucket.ts"

/** Ids of events, and the server's time when they were given. The time in an id may be ahead of it. */
export interface NewIds {
  readonly ids: ReadonlyArray<EventId>
  readonly now: DateTime.Utc
}

export class EventIds extends Context.Service<
  EventIds,
  {
    /** The next ids, for an event of each of these sessions, in their order. */
    readonly next: (sessions: ReadonlyArray<string>) => NewIds
    /** Gives no ids of an earlier time than this from now on (epoch milliseconds). */
    readonly continueFrom: (epochMillis: number) => void
  }
>()("tachograph/core/EventIds") {
  static readonly layer = Layer.effect(
    EventIds,
    Effect.clockWith((clock) => {
      const nextUuid = makeUuid7()
      let earliest = 0
      return Effect.succeed({
        next: (sessions: ReadonlyArray<string>) => {
          const now = clock.currentTimeMillisUnsafe()
          return {
            ids: sessions.map((session) => nextUuid(Math.max(now, earliest), Bucket.ofSession(session)) as EventId),
            now: DateTime.makeUnsafe(now)
          }
        },
        continueFrom: (epochMillis: number) => void (earliest = Math.max(earliest, epochMillis))
      })
    })
  )
}

const maxCounter = 0xfff

/** A generator whose ids increase strictly, whatever times it is given. The last byte of an id is the bucket. */
export const makeUuid7 = (): ((nowMillis: number, bucket: number) => string) => {
  const random = new Uint8Array(7 * 512)
  let used = random.length
  let lastMillis = -1
  let counter = 0
  return (nowMillis, bucket) => {
    if (used === random.length) {
      randomFillSync(random)
      used = 0
    }
    const tail = random.subarray(used, (used += 7))
    if (nowMillis > lastMillis) {
      lastMillis = nowMillis
      // Starting low leaves room to count up within the millisecond.
      counter = tail[0]!
    } else if (++counter > maxCounter) {
      lastMillis++
      counter = 0
    }
    const bytes = new Uint8Array(16)
    const view = new DataView(bytes.buffer)
    view.setUint16(0, Math.floor(lastMillis / 2 ** 32))
    view.setUint32(2, lastMillis % 2 ** 32)
    view.setUint16(6, 0x7000 | counter)
    bytes.set(tail, 8)
    bytes[8] = 0x80 | (tail[0]! & 0x3f)
    bytes[15] = bucket
    return Uuid.fromBytes(bytes)
  }
}
