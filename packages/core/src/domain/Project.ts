/** Everything belongs to a project; an API key opens exactly one, and nothing is ever readable across them. */
import { Context, Schema } from "effect"
import { Name } from "./Name.ts"

export const ProjectId = Name.pipe(Schema.brand("ProjectId"))
export type ProjectId = typeof ProjectId.Type

/** The project of whoever embeds the recorder and never needed to know of projects. */
export const defaultProject = ProjectId.make("default")

export const CurrentProject = Context.Reference<ProjectId>("tachograph/core/CurrentProject", {
  defaultValue: () => defaultProject
})
