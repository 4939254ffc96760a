/** Answers that are made while they are taken: lines of JSON. */
import { textLines } from "@tachograph/client/api"
import * as Client from "./Client.ts"
import * as ExactJson from "./ExactJson.ts"

/** A line that shows only that the connection is alive. */
export const alive = Symbol("alive")

/** The lines of an answer as they come. Rejects as the answer does, and with `offline` where the connection breaks. */
export async function* read<A>(answer: Promise<Response>, signal: AbortSignal): AsyncGenerator<A | typeof alive> {
  const { body } = await answer
  if (body === null) throw new Client.ServerError(0, "offline")
  try {
    for await (const line of textLines(body)) yield line === "" ? alive : (ExactJson.parse(line) as A)
  } catch (error) {
    if (signal.aborted || error instanceof Client.ServerError) throw error
    throw new Client.ServerError(0, "offline")
  }
}
