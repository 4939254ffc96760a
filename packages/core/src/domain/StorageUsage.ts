import { Schema } from "effect"
import { AgentName } from "./Agent.ts"
import { SessionId } from "./Session.ts"

const counters = {
  events: Schema.Int,
  /** Bytes of the payloads as clients sent them. */
  sentBytes: Schema.Int,
  /** Of these, bytes of what was not there before. */
  newBytes: Schema.Int,
  /** Bytes of the packs and shared pieces that hold it, compressed. Rows and indexes come on top. */
  storedBytes: Schema.Int
}

/** What payloads take. Shared pieces count for the project alone: they belong to no session more than to another. */
export const StorageUsage = Schema.Struct({
  ...counters,
  shared: Schema.Struct({ pieces: Schema.Int, newBytes: Schema.Int, storedBytes: Schema.Int }),
  /** The largest first. */
  agents: Schema.Array(Schema.Struct({ agent: AgentName, ...counters })),
  sessions: Schema.Array(Schema.Struct({ session: SessionId, ...counters }))
})
export type StorageUsage = typeof StorageUsage.Type
