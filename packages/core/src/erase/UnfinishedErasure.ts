/** Why an erasure that somebody asked for did not come to its end. The message is for them: what is done, and what asking again does. */
export class UnfinishedErasure extends Error {
  override readonly name = "UnfinishedErasure"

  /** `events` are those whose erasure was committed. */
  constructor(events: number, cause: unknown) {
    super(
      `Events erased by this request for certain: ${events}; texts of theirs may still be stored. Send the same request again: ` +
        "it erases what is left, and its receipt counts only that. It is answered 404 if nothing is left",
      { cause }
    )
  }
}
