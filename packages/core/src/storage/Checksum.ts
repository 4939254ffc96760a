/**
 * The checksums of an event. A read compares them, so that damage is answered with an error and never with other bytes. They
 * find accidents, not forgery.
 */
import * as DateTime from "effect/DateTime"
import { crc32 } from "node:zlib"
import { EventSummary } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { PlacedStep, StepNames } from "./Steps.ts"

/** Where the texts meet does not count: the other checksum covers the sizes of the first two. */
export const ofTexts = (inputs: Uint8Array, output: Uint8Array, metadata: string | null): number =>
  crc32(metadata ?? "", crc32(output, crc32(inputs))) | 0

/** Sorted: the order of the fields in the class may change. */
const fields = (Object.keys(EventSummary.fields) as Array<keyof EventSummary>).sort()

/** Leaves out fields that are null, so that a new nullable field does not change the checksums of earlier events. */
export const ofSummary = (project: ProjectId, summary: EventSummary): number => {
  const values: Array<unknown> = [project]
  for (const field of fields) {
    const value = summary[field]
    if (value !== null) values.push(field, DateTime.isDateTime(value) ? value.epochMilliseconds : value)
  }
  return crc32(JSON.stringify(values)) | 0
}

/** Of a step's row, and of its text in the pack. */
export const ofStep = (
  project: ProjectId,
  { agent, agentVersion, person, receivedAt, session }: StepNames,
  { occurredAt, spanId, traceId }: Pick<PlacedStep, "occurredAt" | "spanId" | "traceId">,
  text: Uint8Array | string
): number => {
  const times = [receivedAt.epochMilliseconds, occurredAt.epochMilliseconds]
  return (
    crc32(text, crc32(JSON.stringify([project, session, agent, agentVersion, person, ...times, traceId, spanId]))) | 0
  )
}

/** Of the texts of a group of steps, one after the other. */
export const ofStepTexts = (texts: ReadonlyArray<Uint8Array | string>): number =>
  texts.reduce((checksum, text) => crc32(text, checksum), 0) | 0
