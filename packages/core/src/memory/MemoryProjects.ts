/** The projects of a storage in memory. */
import * as Effect from "effect/Effect"
import { PersonNotFound } from "../domain/Errors.ts"
import type { Person, PersonId } from "../domain/Person.ts"
import type { ProjectId } from "../domain/Project.ts"
import { MemoryProject } from "./MemoryProject.ts"

export class MemoryProjects {
  readonly #projects = new Map<ProjectId, MemoryProject>()

  get(id: ProjectId): MemoryProject | undefined {
    return this.#projects.get(id)
  }

  /** For writes, which create the project. */
  of(id: ProjectId): MemoryProject {
    let project = this.#projects.get(id)
    if (project === undefined) this.#projects.set(id, (project = new MemoryProject()))
    return project
  }

  /** For reads, which do not create it. */
  read(id: ProjectId): MemoryProject {
    return this.#projects.get(id) ?? new MemoryProject()
  }

  get ids(): ReadonlyArray<ProjectId> {
    return Array.from(this.#projects.keys())
  }
}

export const orFail = <A, E>(value: A | undefined, error: () => E): Effect.Effect<A, E> =>
  value === undefined ? Effect.fail(error()) : Effect.succeed(value)

export const personOf = (
  projects: MemoryProjects,
  project: ProjectId,
  id: PersonId
): Effect.Effect<{ readonly person: Person; readonly number: number }, PersonNotFound> =>
  Effect.suspend(() => orFail(projects.get(project)?.people.get(id), () => new PersonNotFound()))
