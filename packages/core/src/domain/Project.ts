/** Everything belongs to one project. An API key gives access to one project, and projects cannot read each other's data. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Name } from "./Name.ts"

export const ProjectId = Name.pipe(Schema.brand("ProjectId"))
export type ProjectId = typeof ProjectId.Type

/** The project that is used if an embedding program does not set one. */
export const defaultProject = ProjectId.make("default")

export const CurrentProject = Context.Reference<ProjectId>("tachograph/core/CurrentProject", {
  defaultValue: () => defaultProject
})

/** Operations of a port without their project, which is the `CurrentProject`. */
export type InProject<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (project: ProjectId, ...args: infer Args) => infer Result
    ? (...args: Args) => Result
    : never
}

/** An operation of the recorder in the `CurrentProject`, with a span of its name. */
export const inProject = <Args extends ReadonlyArray<unknown>, A, E, R>(
  name: string,
  run: (project: ProjectId, ...args: Args) => Effect.Effect<A, E, R>
): ((...args: Args) => Effect.Effect<A, E, R>) =>
  Effect.fn(`Recorder.${name}`)((...args: Args) => Effect.flatMap(CurrentProject, (project) => run(project, ...args)))
