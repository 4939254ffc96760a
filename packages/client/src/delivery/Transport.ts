/** The way to a server: over HTTP, or into one in the same process. */

export type Outcome<A> =
  | { readonly type: "done"; readonly value: A }
  /** It may work later. `limit` is how many attempts make sense in total. */
  | { readonly type: "retry"; readonly afterMs?: number | undefined; readonly limit?: number; readonly cause: unknown }
  /**
   * The same request will be refused again: for ever, if `isFinal`. Otherwise until something is changed, such as a key or an
   * address.
   */
  | { readonly type: "refused"; readonly isFinal: boolean; readonly cause: unknown }
  | { readonly type: "unknown-fingerprint" }

/** The JSON text of an event in UTF-8, and its key. */
export interface SentEvent {
  readonly event: Uint8Array<ArrayBuffer>
  readonly idempotencyKey: string
}

export interface Transport {
  /** Takes the JSON text of a fingerprint and answers its id. */
  readonly register: (fingerprint: string) => Promise<Outcome<string>>
  /** The same key records once. */
  readonly send: (sent: SentEvent) => Promise<Outcome<void>>
  /**
   * Sends events without a line break together. `stored` is called with the index of each that is stored, as soon as that is known.
   * The outcome is that of the others, and says nothing against one of them: refused where none was answered. Absent where nothing is
   * gained by it.
   */
  readonly sendBatch?: (batch: ReadonlyArray<SentEvent>, stored: (index: number) => void) => Promise<Outcome<void>>
  /** Ends what is under way. It has failed then. */
  readonly stop: () => void
}
