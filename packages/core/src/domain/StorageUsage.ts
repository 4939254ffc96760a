import * as Schema from "effect/Schema"
import { AgentName } from "./Agent.ts"
import { SessionId } from "./Session.ts"

const counters = {
  events: Schema.Int,
  /** Bytes of the payloads, as sent by clients. */
  sentBytes: Schema.Int,
  /** Bytes of what was new in them, before compression. */
  newBytes: Schema.Int,
  /** Bytes of the packs and shared pieces, compressed. Does not include rows and indexes. */
  storedBytes: Schema.Int
}

/** The space that payloads take. Shared pieces count towards the project only, because several sessions may use them. */
export const StorageUsage = Schema.Struct({
  ...counters,
  shared: Schema.Struct({ pieces: Schema.Int, newBytes: Schema.Int, storedBytes: Schema.Int }),
  /** Largest first. */
  agents: Schema.Array(Schema.Struct({ agent: AgentName, ...counters })),
  sessions: Schema.Array(Schema.Struct({ session: SessionId, ...counters }))
})
export type StorageUsage = typeof StorageUsage.Type
