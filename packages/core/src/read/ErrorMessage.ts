/** What the output of a failed call says for people to read. */
import * as FormatErrors from "@tachograph/formats/facts/Errors"

/** UTF-16 units of a message. */
const maxLength = 4_000

/** The provider's words, cut where they are long. Null where the output says nothing. */
export const of = (output: unknown): string | null => {
  const message = FormatErrors.messageOf(output)
  return message === null || message.length <= maxLength
    ? message
    : `${message.slice(0, maxLength - 1).toWellFormed()}…`
}
