/** Reassembles an event from its packs in at most three round trips: the event, its packs, its shared pieces. */
import { Cause, Effect, Exit } from "effect"
import { EventDamaged, type EventNotFound, type StorageUnavailable } from "../domain/Errors.ts"
import type { Event, EventId, EventSummary } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import * as Join from "../payload/Join.ts"
import * as Checksum from "./Checksum.ts"
import { Damage } from "../payload/format/Damage.ts"
import * as Pack from "../payload/format/Pack.ts"
import * as PackContent from "../payload/format/PackContent.ts"
import * as PackHead from "../payload/format/PackHead.ts"
import * as PackRanges from "../payload/format/PackRanges.ts"
import { Reach } from "../payload/Reach.ts"
import * as SessionLoader from "../sessions/SessionLoader.ts"
import type { Storage, StoredSummary } from "../Storage.ts"
import * as DamageLog from "./DamageLog.ts"

/**
 * An erasure between two round trips can change or delete what is being read, so damage is looked at again: the next attempt
 * finds the changed packs, or no event. What remains after this many attempts is damage in the storage.
 */
const maxAttempts = 5

/** After this many uncompressed bytes the event loop turns. */
const sliceBytes = 1024 * 1024

/** Fails with `EventDamaged` if the storage has the event, but not all of its bytes as they were sent. */
export const read = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  project: ProjectId,
  id: EventId
): Effect.fn.Return<Event, EventNotFound | EventDamaged | StorageUnavailable> {
  for (let attemptsLeft = maxAttempts; ; attemptsLeft--) {
    const exit = yield* Effect.exit(readOnce(storage, project, id))
    if (exit._tag === "Success") return exit.value
    const damage = damageIn(exit)
    if (damage === undefined) return yield* exit
    if (attemptsLeft > 1) continue
    yield* DamageLog.found(id, damage)
    return yield* new EventDamaged({ eventId: id })
  }
})

const damageIn = (exit: Exit.Exit<unknown, unknown>): Damage | undefined => {
  if (Exit.isSuccess(exit)) return undefined
  const defect = Cause.squash(exit.cause)
  return defect instanceof Damage ? defect : undefined
}

/** The fields of an event, or `EventDamaged` if they are not those that were recorded. */
export const summaryOf = (
  project: ProjectId,
  { checksums, id, summary }: StoredSummary
): Effect.Effect<EventSummary, EventDamaged> =>
  summary !== undefined && Checksum.ofSummary(project, summary) === checksums.summary
    ? Effect.succeed(summary)
    : Effect.andThen(
        DamageLog.found(id, new Damage("The checksum of the event's fields differs")),
        Effect.fail(new EventDamaged({ eventId: id }))
      )

/** Dies with `Damage`. */
const readOnce = Effect.fnUntraced(function* (storage: Storage["Service"], project: ProjectId, id: EventId) {
  const { checksums, pack, session, summary } = yield* storage.getEvent(project, id)
  if (summary === undefined || Checksum.ofSummary(project, summary) !== checksums.summary)
    throw new Damage("The checksum of the event's fields differs")
  if (pack.bytes === undefined) throw new Damage(`Pack ${pack.number} is missing`)
  const own = { number: pack.number, bytes: pack.bytes }
  const { kind, needs } = PackHead.read(own.number, own.bytes)
  // Reads the event's own pack again, so that all packs are from one snapshot.
  const packs =
    needs.length === 0 && kind !== "continues"
      ? [own]
      : yield* storage.readPacks(project, session, PackRanges.add(needs, { from: own.number, to: own.number }))
  if (packs.at(-1)?.number !== own.number) throw new Damage(`Pack ${own.number} is missing`)

  const { inputs, output, pieces, shared } = yield* open(own.number, packs)
  const { inputsBytes, outputBytes } = summary
  const maxBytes = Math.max(inputsBytes, outputBytes)
  const texts = yield* SessionLoader.readShared(storage, project, shared, { maxPieceBytes: maxBytes })
  const payload = {
    inputs: Join.join(inputs, pieces, texts, { expectedBytes: inputsBytes, maxBytes: inputsBytes }),
    output: Join.join(output, pieces, texts, { expectedBytes: outputBytes, maxBytes: outputBytes })
  }
  // Together with their sizes, which the other checksum covers.
  const isAsSent =
    payload.inputs.length === inputsBytes && Checksum.ofTexts(payload.inputs, payload.output) === checksums.texts
  if (!isAsSent) throw new Damage("The checksum of the event's texts differs")
  return { ...summary, payload }
})

interface OpenEvent {
  readonly inputs: PackContent.TemplateSpan
  readonly output: PackContent.TemplateSpan
  readonly pieces: Join.Pieces
  readonly shared: ReadonlyArray<Buffer>
}

/**
 * Opens the packs of an event, of which its own is the last: chain by chain from the newest to the oldest. Keeps only the pieces
 * that the event reaches.
 */
const open = Effect.fnUntraced(function* (
  own: number,
  packs: ReadonlyArray<Pack.StoredPack>
): Effect.fn.Return<OpenEvent> {
  const reach = new Reach()
  const pieces = new Map<Join.PieceNumber, PackContent.TemplateSpan>()
  let texts: Pick<PackContent.Contents, "inputs" | "output"> | undefined
  let sliceBytesLeft = sliceBytes
  for (const chain of Pack.chainsOf(packs).toReversed()) {
    const { damage, packs: openPacks } = Pack.openChain(chain)
    // A damaged pack that nothing of the event is in does not matter.
    const contents = openPacks.map(({ content }) => PackContent.read(content))
    const isOwn = texts === undefined
    if (isOwn && openPacks.at(-1)?.number !== own) throw damage ?? new Damage(`The chain of pack ${own} has no start`)
    texts ??= contents.at(-1)!
    const roots = isOwn ? [texts.inputs, texts.output] : []
    const isLarge = !isOwn && openPacks[0]?.isAlone === true
    for (const [piece, span] of reach.visit(contents, roots)) pieces.set(piece, isLarge ? copyOf(span) : span)
    for (const { content } of openPacks) sliceBytesLeft -= content.length
    if (sliceBytesLeft > 0) continue
    yield* Effect.yieldNow
    sliceBytesLeft = sliceBytes
  }
  if (texts === undefined) throw new Damage(`The chain of pack ${own} has no start`)
  return { ...texts, pieces, shared: reach.shared }
})

/** Does not retain the rest of a large content. */
const copyOf = ({ content, end, start }: PackContent.TemplateSpan): PackContent.TemplateSpan => ({
  content: Buffer.from(content.subarray(start, end)),
  start: 0,
  end: end - start
})
