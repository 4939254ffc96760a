/** Parts of events that are not complete yet. */
import * as Effect from "effect/Effect"
import type { ProjectId } from "../domain/Project.ts"
import { maxPageParts, merge, type Waiting, type WaitingPart, type WaitingPlace } from "../storage/Waiting.ts"
import type { MemoryProjects } from "./MemoryProjects.ts"

type Groups = Map<string, Map<string, WaitingPart>>

const dueOf = (parts: ReadonlyMap<string, WaitingPart>): number =>
  Array.from(parts.values()).reduce((due, part) => Math.min(due, part.due ?? due), Number.POSITIVE_INFINITY)

const byAge = (a: WaitingPlace, b: WaitingPlace): number => {
  if (a.since !== b.since) return a.since - b.since
  if (a.part === b.part) return 0
  return a.part < b.part ? -1 : 1
}

export const make = (projects: MemoryProjects): Waiting => {
  const waiting = new Map<ProjectId, Groups>()
  const groupOf = (project: ProjectId, group: string) => waiting.get(project)?.get(group) ?? new Map()

  const holdOne = (groups: Groups, part: WaitingPart): void => {
    const parts = groups.get(part.group) ?? new Map<string, WaitingPart>()
    const kept = parts.get(part.part)
    parts.set(part.part, kept === undefined ? part : merge(kept, part))
    groups.set(part.group, parts)
  }

  return {
    hold: (project, parts) =>
      Effect.sync(() => {
        projects.of(project)
        const groups: Groups = waiting.get(project) ?? new Map()
        waiting.set(project, groups)
        for (const part of parts) holdOne(groups, part)
      }),
    makeDue: (project, groups, at) =>
      Effect.sync(() => {
        for (const [group, known] of groups) {
          const parts = groupOf(project, group)
          if (parts.size <= known) continue
          const first = Array.from(parts.values()).find(({ due }) => due !== undefined)
          if (first !== undefined && dueOf(parts) > at) parts.set(first.part, { ...first, due: at })
        }
      }),
    waitingAmong: (project, groups) =>
      Effect.sync(() => groups.filter((group) => dueOf(groupOf(project, group)) < Number.POSITIVE_INFINITY)),
    postpone: (project, group, to) =>
      Effect.sync(() => {
        const parts = groupOf(project, group)
        for (const part of parts.values()) parts.set(part.part, { ...part, due: part.due && Math.max(part.due, to) })
      }),
    dueGroups: (now, limit) =>
      Effect.sync(() =>
        Array.from(waiting)
          .flatMap(([project, groups]) =>
            Array.from(groups, ([group, parts]) => ({ project, group, due: dueOf(parts) }))
          )
          .filter(({ due }) => due <= now)
          .sort((a, b) => a.due - b.due)
          .slice(0, limit)
          .map(({ group, project }) => ({ project, group }))
      ),
    readWaiting: (project, group, after, maxBytes) =>
      Effect.sync(() => {
        const all: ReadonlyArray<WaitingPart> = Array.from(groupOf(project, group).values())
        const left = all.filter((part) => after === undefined || byAge(part, after) > 0).sort(byAge)
        let bytes = 0
        const rows = left.filter(({ size }, n) => ((bytes += size) <= maxBytes || n === 0) && n < maxPageParts)
        const last = rows.length < left.length ? rows.at(-1) : undefined
        return { rows, next: last && { part: last.part, since: last.since } }
      }),
    endWaiting: (project, group, read) =>
      Effect.sync(() => {
        const parts = groupOf(project, group)
        for (const { part, size } of read) if (parts.get(part)?.size === size) parts.delete(part)
        if (parts.size === 0) waiting.get(project)?.delete(group)
      }),
    endContexts: (before) =>
      Effect.sync(() => {
        for (const groups of waiting.values()) {
          for (const [group, parts] of groups) {
            if (dueOf(parts) < Number.POSITIVE_INFINITY) continue
            for (const { part, since } of parts.values()) if (since < before) parts.delete(part)
            if (parts.size === 0) groups.delete(group)
          }
        }
      }),
    listWaitingGroups: (project, after = "", limit) =>
      Effect.sync(() =>
        Array.from(waiting.get(project)?.keys() ?? [])
          .filter((group) => group > after)
          .sort()
          .slice(0, limit)
      ),
    countWaiting: Effect.sync(() =>
      Array.from(waiting.values(), (groups) => Array.from(groups.values()))
        .flat()
        .reduce((sum, parts) => sum + Array.from(parts.values()).filter(({ due }) => due !== undefined).length, 0)
    )
  }
}
