/** Stored in the row of an event. CRC-32 as signed integers, which a database stores in four bytes. */
export interface EventChecksums {
  /** The checksum of `inputs` followed by `output`, as sent. */
  readonly texts: number
  /** The checksum of the summary and the project. */
  readonly summary: number
}
