/** Exports the events that a filter finds. */
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { Overloaded, StorageUnavailable } from "../domain/Errors.ts"
import { CurrentProject } from "../domain/Project.ts"
import * as EventPages from "../read/EventPages.ts"
import type { EventFilterQuery } from "../read/EventPages.ts"
import type { EventReads } from "../read/EventReads.ts"
import type { Resources } from "../Resources.ts"
import type { Storage } from "../Storage.ts"
import type { Result } from "../storage/Result.ts"
import * as Exporter from "./Exporter.ts"
import * as ProjectReading from "./ProjectReading.ts"
import { StepExport } from "./StepExport.ts"

export interface ExportQuery extends EventFilterQuery, Exporter.ExportRange {}

export interface Exporting {
  /**
   * All that the project has, or the events that a filter finds with what they name, in groups; also the steps of the names of a filter that
   * has no other conditions. `reserve` counts what a large event
   * takes of the memory of the process.
   */
  readonly exportEvents: (
    query: ExportQuery,
    reserve?: Exporter.Reserve
  ) => Result<Stream.Stream<ReadonlyArray<Exporter.ExportItem>, StorageUnavailable | Overloaded>>
}

export const make = (
  storage: Storage["Service"],
  resources: Resources,
  { getEvent }: Pick<EventReads, "getEvent">
): Exporting => ({
  exportEvents: ({ after, limit, ...filter }: ExportQuery, reserve: Exporter.Reserve = () => Effect.succeed(true)) =>
    Effect.flatMap(CurrentProject, (project) => {
      const { agent, agentVersion, person, session, ...others } = filter
      const hasSteps = isWhole(others)
      const reading = ProjectReading.make(storage, project, resources, {
        steps: hasSteps
          ? (fromMs, upTo) => new StepExport(storage, project, { agent, agentVersion, person, session, fromMs }, upTo)
          : undefined,
        event: (id) => Effect.catchTag(getEvent(id), "overloaded", () => Effect.die("Nothing was reserved")),
        page: (from, rows) =>
          EventPages.visible(storage, project, { ...filter, order: "asc", after: from, limit: rows })
      })
      return Exporter.items(reading, { after, limit }, isWhole({ ...filter, after, limit }), reserve)
    })
})

/** Whether nothing is left out, not even what no event names. */
const isWhole = ({ fields = {}, ...filter }: ExportQuery): boolean =>
  [...Object.values(filter), ...Object.values(fields)].every((value) => value === undefined)
