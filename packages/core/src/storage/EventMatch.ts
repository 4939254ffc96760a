/** Whether an event is one that a list asks for, but for the place in the list. */
import * as CallTime from "../domain/CallTime.ts"
import type { EventSummary } from "../domain/Event.ts"
import * as Failure from "../domain/Failure.ts"
import type { EventQuery, FieldFilter } from "./Lists.ts"

export const of = (
  { above, agent, agentVersion, below, fromMs, person, session, toMs }: Omit<EventQuery, "order" | "limit">,
  { failure, isError, model, ...equal }: FieldFilter
): ((summary: EventSummary) => boolean) => {
  const wanted = Object.entries({ ...equal, agent, agentVersion, person, session }).filter(
    ([, value]) => value !== undefined
  ) as ReadonlyArray<readonly [keyof EventSummary, unknown]>
  return (summary) =>
    (above === undefined || summary.id > above) &&
    (below === undefined || summary.id < below) &&
    (fromMs === undefined || CallTime.of(summary) >= fromMs) &&
    (toMs === undefined || CallTime.of(summary) < toMs) &&
    wanted.every(([field, value]) => summary[field] === value) &&
    (model === undefined || summary.model === model || summary.responseModel === model) &&
    (isError === undefined || (summary.errorType !== null) === isError) &&
    (failure === undefined || Failure.isOf(failure, summary))
}
