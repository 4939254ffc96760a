/**
 * The titles of sessions, read from their first calls when they are asked for. Nothing of them is stored: what is erased is in no
 * title. Those that were read last are kept in memory, by the ids of the calls.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { EventId, EventSummary } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import { Damage } from "../payload/format/Damage.ts"
import type * as DamageLog from "../read/DamageLog.ts"
import * as EventReader from "../read/EventReader.ts"
import { LruCache } from "../read/LruCache.ts"
import { orDamage } from "../read/OrDamage.ts"
import type { Storage } from "../Storage.ts"
import { titleOf } from "./Title.ts"

/** Titles in memory (bytes), and what a title takes beside its text. */
const cacheBytes = 4 * 1024 * 1024
const entryBytes = 200

/** A first call with a longer text is not read: a list of sessions has many of them (bytes). */
const maxPayloadBytes = 1024 * 1024

/** Calls that are read at the same time. */
const concurrency = 4

class TooLong extends Data.TaggedError("too-long") {}

export class SessionTitles {
  readonly #cache = new LruCache<string, string | null>(cacheBytes)
  readonly #storage: Storage["Service"]
  readonly #onDamage: DamageLog.OnDamage

  constructor(storage: Storage["Service"], onDamage: DamageLog.OnDamage) {
    this.#storage = storage
    this.#onDamage = onDamage
  }

  /** The title of each session, by its first call. Null if it has none, or the call is too long or damaged. */
  of(
    project: ProjectId,
    firstEvents: ReadonlyArray<EventId>
  ): Effect.Effect<ReadonlyArray<string | null>, StorageUnavailable> {
    return Effect.forEach(firstEvents, (id) => this.#title(project, id), { concurrency })
  }

  #title(project: ProjectId, id: EventId): Effect.Effect<string | null, StorageUnavailable> {
    return Effect.suspend(() => {
      const key = `${project} ${id}`
      const kept = this.#cache.get(key)
      if (kept !== undefined) return Effect.succeed(kept)
      return Effect.map(this.#read(project, id), (title) => {
        this.#cache.set(key, title, entryBytes + 2 * (title?.length ?? 0))
        return title
      })
    })
  }

  #read(project: ProjectId, id: EventId) {
    const admit = ({ inputsBytes, outputBytes }: EventSummary) =>
      inputsBytes + outputBytes > maxPayloadBytes ? Effect.fail(new TooLong()) : Effect.void
    const title = EventReader.read(this.#storage, project, id, {
      admit,
      onDamage: (damage) => this.#onDamage(id, damage)
    }).pipe(Effect.map(({ api, payload }) => titleOf(api, JSON.parse(Buffer.from(payload.inputs).toString()))))
    return orDamage(title).pipe(
      Effect.map((title) => (title instanceof Damage ? null : title)),
      // It was erased since the list was read.
      Effect.catchTag(["too-long", "event-damaged", "event-not-found"], () => Effect.succeed(null))
    )
  }
}
