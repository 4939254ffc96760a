import * as Schema from "effect/Schema"

/** What an erasure deleted. */
export const ErasureReceipt = Schema.Struct({
  events: Schema.Int,
  /** Sessions deleted because no events were left in them. */
  sessions: Schema.Int,
  /** Pieces of payloads that no remaining event references. */
  pieces: Schema.Int,
  /** Stored bytes of packs and shared pieces that were freed. */
  bytes: Schema.Int,
  /** Packs that were deleted because they were damaged. Events that needed them and were not erased cannot be read. */
  damaged: Schema.Int
}).annotate({ identifier: "ErasureReceipt" })
export type ErasureReceipt = typeof ErasureReceipt.Type
