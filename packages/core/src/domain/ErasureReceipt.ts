import { Schema } from "effect"

/** What an erasure deleted. */
export const ErasureReceipt = Schema.Struct({
  events: Schema.Int,
  /** Sessions deleted because no events were left in them. */
  sessions: Schema.Int,
  /** Pieces of payloads that no remaining event references. */
  pieces: Schema.Int,
  /** Stored bytes of packs and shared pieces that were freed. */
  bytes: Schema.Int
})
export type ErasureReceipt = typeof ErasureReceipt.Type
