import { Schema } from "effect"

/** What an erasure has taken away. */
export const ErasureReceipt = Schema.Struct({
  events: Schema.Int,
  /** Sessions that were left without events, and went whole. */
  sessions: Schema.Int,
  /** Pieces of payloads that no remaining event reaches. */
  pieces: Schema.Int,
  /** Bytes that packs and shared pieces take less than before, as stored. */
  bytes: Schema.Int
})
export type ErasureReceipt = typeof ErasureReceipt.Type
