/** What `tachograph reindex` prints: text for people, or JSON. */
import type { ProjectId, Reindexer, RulesInUse } from "@tachograph/core"
import * as Bytes from "../terminal/Bytes.ts"
import * as Figures from "../terminal/Figures.ts"
import * as Json from "../terminal/Json.ts"
import * as Table from "../terminal/Table.ts"

/** `1h 2m`, `2m 3s`, `3s`. */
const timeText = (seconds: number): string => {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)]
  if (hours > 0) return `${hours}h ${minutes}m`
  return minutes > 0 ? `${minutes}m ${Math.floor(seconds % 60)}s` : `${Math.ceil(seconds)}s`
}

/** `total` is how many events were by other rules when it began. */
export const progressText = ({ events, left }: Reindexer.Counts, total: number, elapsedMs: number): string => {
  const done = events + left
  const perSecond = (1000 * done) / Math.max(1, elapsedMs)
  const timeLeft = done === 0 ? "" : `, ${timeText(Math.max(0, total - done) / perSecond)} left`
  const damaged = left === 0 ? "" : `; ${Figures.counted(left, "event")} left as they are`
  return `Reindexed ${Figures.integer(events)} of ${Figures.counted(total, "event")} (${Figures.integer(Math.round(perSecond))}/s${timeLeft})${damaged}`
}

interface ProjectRules {
  readonly project: ProjectId
  /** How many events are by which rules. */
  readonly rules: ReadonlyArray<RulesInUse>
}

interface Result {
  /** The current rules. */
  readonly rules: string
  readonly counts: Reindexer.Counts
  readonly projects: ReadonlyArray<ProjectRules>
}

const leftText = ({ eventId, project, reason, session }: Reindexer.LeftEvent): string => {
  const place = [
    ...(eventId === undefined ? [] : [`event ${eventId}`]),
    ...(session === undefined ? [] : [`session ${Table.quoted(session)}`]),
    `project ${Table.quoted(project)}`
  ]
  return `left as it is: ${place.join(", ")}: ${Table.printable(reason)}`
}

const resultText = ({ counts, projects, rules }: Result): string => {
  const { changed, events, left, textBytes } = counts
  const rows = projects.flatMap(({ project, rules }) =>
    rules.map((each) => [Table.printable(project), Table.printable(each.rules), String(each.events)])
  )
  return [
    `Reindexed ${Figures.counted(events, "event")} (${Bytes.format(textBytes)}) by ${rules}: ${Figures.integer(changed)} changed` +
      (left === 0 ? "" : `, ${Figures.counted(left, "event")} left as they are`),
    ...(rows.length === 0 ? [] : [Table.format([["PROJECT", "RULES", "EVENTS"], ...rows], new Set([2]))])
  ].join("\n")
}

export interface Report {
  readonly left: (event: Reindexer.LeftEvent) => string
  readonly result: (result: Result) => string
}

export const text: Report = { left: leftText, result: resultText }

export const json: Report = {
  left: (event) => Json.format({ type: "left", ...event }),
  result: ({ counts, projects, rules }) => Json.format({ type: "result", rules, ...counts, projects })
}
