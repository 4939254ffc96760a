/** What `tachograph verify` prints: text for people, or JSON. */
import type { Verifier } from "@tachograph/core"
import * as Bytes from "./Bytes.ts"
import * as Figures from "./Figures.ts"
import * as Json from "./Json.ts"
import * as Table from "./Table.ts"

const lost: Readonly<Record<Verifier.Lost, string>> = {
  fields: "lost: fields other than inputs and output",
  texts: "lost: inputs and output",
  "fields and texts": "lost: all of it"
}

/** `event-damaged: event 01…, session "s", project "p": The checksum of pack 3 differs (lost: inputs and output)`. */
const findingText = (finding: Verifier.Finding): string => {
  const { eventId, problem, project, reason, session } = finding
  const place = [
    ...(eventId === undefined ? [] : [`event ${eventId}`]),
    ...(session === undefined ? [] : [`session ${Table.quoted(session)}`]),
    ...(project === undefined ? [] : [`project ${Table.quoted(project)}`])
  ].join(", ")
  const loss = finding.lost === undefined ? "" : ` (${lost[finding.lost]})`
  return [problem, ...(place === "" ? [] : [place]), `${Table.printable(reason)}${loss}`].join(": ")
}

const listed = (parts: ReadonlyArray<string>) => `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)!}`

/** `3 problems, 2 damaged events`. */
const problemsText = ({ damagedEvents, problems }: Verifier.Counts): string =>
  `${Figures.counted(problems, "problem")}${damagedEvents === 0 ? "" : `, ${Figures.counted(damagedEvents, "damaged event")}`}`

/**
 * Lists are checked before events, project by project, unless only one session is verified. `totalEvents` is undefined if it is
 * not known.
 */
export const progressText = (counts: Verifier.Counts, totalEvents: number | undefined): string => {
  const { events, listedEvents, problems, sessions, textBytes } = counts
  const listed = listedEvents === 0 ? "Verified" : `Listed ${Figures.integer(listedEvents)}, verified`
  const of = totalEvents === undefined ? "" : ` of ${Figures.integer(totalEvents)}`
  const found = problems === 0 ? "" : `; ${problemsText(counts)}`
  const where = Figures.counted(sessions, "session")
  return `${listed} ${Figures.integer(events)}${of} events (${Bytes.format(textBytes)}) in ${where}${found}`
}

const summaryText = (counts: Verifier.Counts, isComplete: boolean): string => {
  const { events, packs, pendingErasures, projects, sessions, sharedPieces, textBytes, unsettled } = counts
  const verified = listed([
    `${Figures.counted(events, "event")} (${Bytes.format(textBytes)})`,
    Figures.counted(packs, "pack"),
    Figures.counted(sharedPieces, "shared piece")
  ])
  const where = `${Figures.counted(sessions, "session")} of ${Figures.counted(projects, "project")}`
  const ending = counts.problems > 0 ? problemsText(counts) : `nothing is wrong${isComplete ? "" : " so far"}`
  const lines = [`${isComplete ? "Verified" : "Incomplete: verified"} ${verified} in ${where}: ${ending}`]
  if (pendingErasures > 0) {
    lines.push(
      `In ${Figures.counted(pendingErasures, "session")} an erasure is running, or was interrupted and can be repeated`
    )
  }
  if (unsettled > 0) {
    lines.push(
      `The counters of ${Figures.counted(unsettled, "session")} were not compared: events were erased meanwhile`
    )
  }
  return lines.join("\n")
}

export interface Report {
  readonly finding: (finding: Verifier.Finding) => string
  /** `isComplete` says whether everything that was selected has been verified. */
  readonly summary: (counts: Verifier.Counts, isComplete: boolean) => string
}

export const text: Report = { finding: findingText, summary: summaryText }

export const json: Report = {
  finding: (finding) => Json.format({ type: "finding", ...finding }),
  summary: (counts, complete) => Json.format({ type: "summary", complete, ...counts })
}
