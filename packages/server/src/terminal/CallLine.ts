/** A call as one line for people. */
import type { EventSummary, ListedEvent } from "@tachograph/client/api"
import * as Failure from "./Failure.ts"
import * as Figures from "./Figures.ts"
import * as Rebuilt from "./Rebuilt.ts"
import * as Style from "./Style.ts"
import * as Table from "./Table.ts"

const nameCharacters = 40

/** Characters of an error's type and of its message that are printed. */
const errorCharacters = 100

const name = (text: string | null): string => Table.printable(Figures.cut(text ?? "", nameCharacters))

/** Whole where a program reads it. */
const session = (text: string): string => (process.stdout.isTTY ? name(text) : Table.printable(text))

const tokens = (event: EventSummary): string => {
  const { cache_read_tokens: read, input_tokens: sent, output_tokens: got } = event
  return sent === null && got === null
    ? ""
    : `${Figures.integer(sent ?? 0)}${Figures.cached(read)} → ${Figures.integer(got ?? 0)} tokens`
}

/** When it was, whose it was, what it took, how it ended, what tried it again, and its id. `message` is the error's, if it is one. */
export const of = (event: EventSummary & Pick<ListedEvent, "retried_by">, message: string | null): string =>
  [
    Style.dim((event.occurred_at ?? event.received_at).slice(0, 19).replace("T", " ")),
    name(`${event.agent} ${event.agent_version}`),
    session(event.session),
    name(event.person),
    name(event.response_model ?? event.model),
    Rebuilt.isRebuilt(event) ? "rebuilt" : "",
    tokens(event),
    Figures.cost(event),
    Figures.duration(event.duration_ms),
    event.error_type === null
      ? name(event.stop_reason)
      : Style.red(`failed: ${Failure.of(event, message, errorCharacters)}`),
    event.retried_by === undefined ? "" : `retried by ${event.retried_by}`,
    Style.dim(event.event_id)
  ]
    .filter((part) => part !== "")
    .join("  ")
