/** Leaves credentials out of a call that is recorded. */
import * as Call from "@tachograph/formats/masking/Call"
import * as Steps from "@tachograph/formats/masking/Steps"
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

/** Throws where it would take too long. */
export const masked = ({ inputs, output, secrets }: Made): Masked => {
  const values = { credentials: secrets, suspects: [] }
  const call = found(Call.masked(values, Utf8.bytesOf(inputs), Utf8.bytesOf(output)))
  return {
    inputs: Utf8.textOf([call.inputs]),
    output: Utf8.textOf([call.output]),
    count: () => call.count,
    beside: (text) => Utf8.textOf([found(call.beside(Utf8.bytesOf(text)))])
  }
}
