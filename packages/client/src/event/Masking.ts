/** Leaves credentials out of a call that is recorded. */
import * as Body from "@tachograph/capture/masking/Body"
import * as Call from "@tachograph/capture/masking/Call"
import type { Patterns } from "@tachograph/capture/masking/Patterns"
import * as Places from "@tachograph/capture/masking/Places"
import * as Steps from "@tachograph/capture/masking/Steps"
import * as Utf8 from "../platform/Utf8.ts"

/** A call as it was made. */
export interface Made {
  readonly inputs: string
  readonly output: string
  /** Credentials that it was made with, and what only may be one, as far as the inputs do not have it. */
  readonly secrets: ReadonlyArray<string>
}

export interface Masked {
  readonly inputs: string
  readonly output: string
  /** How many masks there are so far. */
  readonly count: () => number
  /** A JSON text beside the payload, without them. */
  readonly beside: (text: string) => string
}

const tooMuch = (): Error => new Error("The call has too many credentials, or looking for them takes too long")

const found = <A>(steps: Steps.Steps<A | undefined>): A => {
  const result = Steps.run(steps)
  if (result === undefined) throw tooMuch()
  return result
}

/** Without what the `patterns` match either, if there are some. Throws where it would take too long. */
export const masked = ({ inputs, output, secrets }: Made, patterns?: Patterns): Masked => {
  const values = { credentials: secrets, suspects: [] }
  const call = found(Call.masked(values, Utf8.bytesOf(inputs), Utf8.bytesOf(output)))
  let matches = 0
  const textOf = (text: Uint8Array, place: Places.Place): string => {
    if (patterns === undefined) return Utf8.textOf([text])
    const left = Steps.run(Body.withoutMatches(text, patterns, place))
    matches += left.count
    return Utf8.textOf([left.text])
  }
  return {
    inputs: textOf(call.inputs, "texts"),
    output: textOf(call.output, "texts"),
    count: () => call.count + matches,
    beside: (text) => textOf(found(call.beside(Utf8.bytesOf(text))), Places.ofValues)
  }
}
