/** Everything belongs to one project. An API key gives access to one project, and projects cannot read each other's data. */
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"
import { Name } from "./Name.ts"

export const ProjectId = Name.pipe(Schema.brand("ProjectId"))
export type ProjectId = typeof ProjectId.Type

/** The project that is used if an embedding program does not set one. */
export const defaultProject = ProjectId.make("default")

export const CurrentProject = Context.Reference<ProjectId>("tachograph/core/CurrentProject", {
  defaultValue: () => defaultProject
})
