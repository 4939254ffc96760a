/** Makes the entries of the audit log, which storages write in the transaction of what they tell about. */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { hash, randomBytes } from "node:crypto"
import { type AuditAction, AuditEntry, CurrentActor, type StoredAudit } from "../domain/AuditEntry.ts"
import * as EventTime from "../domain/EventTime.ts"
import * as Uuid from "../domain/Uuid.ts"

/** How long entries are kept (ms): three years. A project's older ones are deleted when another one is added. */
export const keptMs = 3 * 366 * 24 * 60 * 60 * 1000

/** Entries with lower ids than this are too old when one is added. */
export const oldestBeside = ({ id }: StoredAudit): string => EventTime.firstIdOf(Uuid.timeOf(id) - keptMs)

let lastMs = 0

/** A UUIDv7 after the last one of this process, unless its clock was set back. */
const nextId = (nowMs: number): string => {
  const isTie = nowMs <= lastMs && nowMs > lastMs - 1000
  lastMs = isTie ? lastMs + 1 : nowMs
  const bytes = Uuid.toBytes(EventTime.firstIdOf(lastMs))
  bytes.set(randomBytes(7), 9)
  return Uuid.fromBytes(bytes)
}

/** An entry of now, by the `CurrentActor`. */
export const entry = (
  action: AuditAction,
  subject: string | null = null,
  events: number | null = null
): Effect.Effect<StoredAudit> =>
  Effect.map(Effect.all([Clock.currentTimeMillis, CurrentActor]), ([now, actor]) => ({
    id: nextId(now),
    action,
    actor,
    subject,
    events
  }))

/** The name of what was erased, for those who know it: nobody else can read it. */
export const subjectOf = (name: string): string => hash("sha256", name, "hex")

export const ofStored = (stored: StoredAudit): AuditEntry =>
  new AuditEntry({ ...stored, at: DateTime.makeUnsafe(Uuid.timeOf(stored.id)) })
