import * as Schema from "effect/Schema"

/** A table or an index of SQLite that was built anew, because pages of it were malformed. */
export const Rebuilt = Schema.Struct({
  name: Schema.String,
  /** Rows of which not all could be read. There are more where the indexes, which say how many there were, are malformed, too. */
  lost: Schema.Int
}).annotate({ identifier: "Rebuilt" })
export type Rebuilt = typeof Rebuilt.Type

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
  damaged: Schema.Int,
  /** What had to be built anew before the erasure could go on. Absent where nothing had to be. */
  rebuilt: Schema.optionalKey(Schema.Array(Rebuilt))
})
export type ErasureReceipt = typeof ErasureReceipt.Type
