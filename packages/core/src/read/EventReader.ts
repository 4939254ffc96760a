/**
 * Reassembles an event from its packs in at most three round trips: the event, its packs, its shared pieces. A large pack of its
 * own takes one more, and the shared pieces of a large event are read in groups. A storage may take one more for what is long.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { EventDamaged, type EventNotFound, type StorageUnavailable } from "../domain/Errors.ts"
import type { Event, EventId, EventSummary } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import * as Join from "../payload/Join.ts"
import * as Checksum from "../storage/Checksum.ts"
import { Damage } from "../payload/format/Damage.ts"
import * as Memory from "../payload/format/Memory.ts"
import * as Pack from "../payload/format/Pack.ts"
import type * as PackContent from "../payload/format/PackContent.ts"
import * as PackHead from "../payload/format/PackHead.ts"
import * as PackRanges from "../payload/format/PackRanges.ts"
import { ReachedPieces } from "../payload/ReachedPieces.ts"
import type { Storage } from "../Storage.ts"
import type { StoredEvent, StoredSummary } from "../storage/Stored.ts"
import type * as DamageLog from "./DamageLog.ts"
import * as OpenChain from "./OpenChain.ts"
import type { UnpackedCache } from "./UnpackedCache.ts"
import { UnpackedTexts } from "./UnpackedTexts.ts"

/**
 * An erasure between two round trips can change or delete what is being read, so damage is looked at again: the next attempt
 * finds the changed packs, or no event. What remains after this many attempts is damage in the storage.
 */
const maxAttempts = 5

/** The bound of a text whose size is not known: more than any server accepts in a request (bytes). */
export const maxTextBytes = 512 * 1024 * 1024

/** Packs up to this size (bytes) are read together with the fields of their event. */
const maxPackBytes = 64 * 1024

/** After this many uncompressed bytes the event loop turns. */
const sliceBytes = 1024 * 1024

/** Where a read takes what is stored from. */
export interface Source extends Pick<Storage["Service"], "getEvent" | "readPacks"> {
  readonly openChain: (chain: Pack.StoredChain) => OpenChain.OpenChain
  /** Called with each chain that was opened, when a read does not use it any more. */
  readonly closeChain: (chain: OpenChain.OpenChain) => void
  /**
   * The texts of shared pieces that have together at most `totalBytes`. They throw `Damage` if one cannot be decompressed to at most
   * `maxPieceBytes`.
   */
  readonly sharedTexts: (
    project: ProjectId,
    names: ReadonlyArray<Uint8Array>,
    limits: { readonly maxPieceBytes: number; readonly totalBytes: number }
  ) => LoadedTexts
}

/** Texts of shared pieces that are read from a storage. */
interface LoadedTexts extends Join.SharedTexts {
  /** Reads the text of this name, if it exists. Others are gone then. */
  readonly load: (name: Uint8Array) => Effect.Effect<void, StorageUnavailable>
  /** Called when a read does not use them any more. */
  readonly close: () => void
}

/** `cache` keeps what it unpacks for the next reads. */
export const sourceOf = (storage: Storage["Service"], cache?: UnpackedCache): Source => {
  const clears = cache?.clears ?? 0
  return {
    getEvent: (project, id) => storage.getEvent(project, id, maxPackBytes),
    readPacks: storage.readPacks,
    openChain: (chain) => (cache === undefined ? OpenChain.open(chain) : cache.openChain(chain, clears)),
    closeChain: (chain) => (cache === undefined ? OpenChain.free(chain) : cache.closeChain(chain)),
    sharedTexts: (project, names, limits) =>
      new UnpackedTexts(
        (some, maxBytes) => storage.readShared(project, some, maxBytes),
        names,
        limits,
        cache && ((name, bytes, maxBytes) => cache.textOf(name, bytes, maxBytes, clears))
      )
  }
}

/** Runs when the size of the payload is known, before anything large is read. It may run again. */
type Admit<E> = (summary: EventSummary) => Effect.Effect<void, E>

const admitAll = () => Effect.void

interface ReadOptions<E> {
  readonly cache?: UnpackedCache
  readonly admit?: Admit<E>
  /** Runs if the event is damaged, with the number of its session. */
  readonly onDamage?: (damage: Damage, session: number) => Effect.Effect<void>
}

/** Fails with `EventDamaged` if the storage has the event, but not all of its bytes as they were sent. */
export const read = <E = never>(
  storage: Storage["Service"],
  project: ProjectId,
  id: EventId,
  { admit = admitAll, cache, onDamage = () => Effect.void }: ReadOptions<E> = {}
): Effect.Effect<Event, EventNotFound | EventDamaged | StorageUnavailable | E> =>
  Effect.suspend(() => {
    let session = 0
    const source = sourceOf(storage, cache)
    const observed: Source = {
      ...source,
      getEvent: (...args) => Effect.map(source.getEvent(...args), (stored) => ((session = stored.session), stored))
    }
    return Effect.catchIf(
      readAgain(observed, project, id, admit),
      (error): error is Damage => error instanceof Damage,
      (damage) => Effect.andThen(onDamage(damage, session), Effect.fail(new EventDamaged({ eventId: id })))
    )
  })

/** Fails with the `Damage` that remains after several attempts. */
export const readAgain = Effect.fnUntraced(function* <E = never>(
  source: Source,
  project: ProjectId,
  id: EventId,
  admit: Admit<E> = admitAll
): Effect.fn.Return<Event, EventNotFound | Damage | StorageUnavailable | E> {
  for (let attemptsLeft = maxAttempts; ; attemptsLeft--) {
    const exit = yield* Effect.exit(readOnce(source, project, id, admit))
    if (exit._tag === "Success") return exit.value
    const damage = damageIn(exit)
    if (damage === undefined) return yield* exit
    if (attemptsLeft === 1) return yield* Effect.fail(damage)
  }
})

const damageIn = (exit: Exit.Exit<unknown, unknown>): Damage | undefined => {
  if (Exit.isSuccess(exit)) return undefined
  const defect = Cause.squash(exit.cause)
  return defect instanceof Damage ? defect : undefined
}

/** Undefined if the fields of an event are those that were recorded. */
export const damageOfFields = (project: ProjectId, { checksums, summary }: StoredSummary): Damage | undefined =>
  summary !== undefined && Checksum.ofSummary(project, summary) === checksums.summary
    ? undefined
    : new Damage("The checksum of the event's fields differs")

/** The fields of an event, or `EventDamaged` if they are not those that were recorded. */
export const summaryOf = (
  project: ProjectId,
  stored: StoredSummary,
  onDamage: DamageLog.OnDamage
): Effect.Effect<EventSummary, EventDamaged> => {
  const damage = damageOfFields(project, stored)
  return damage === undefined
    ? Effect.succeed(stored.summary!)
    : Effect.andThen(onDamage(stored.id, damage), Effect.fail(new EventDamaged({ eventId: stored.id })))
}

/** Dies with `Damage`. */
export const readOnce = Effect.fnUntraced(function* <E = never>(
  source: Source,
  project: ProjectId,
  id: EventId,
  admit: Admit<E> = admitAll
) {
  const stored = yield* source.getEvent(project, id)
  const damage = damageOfFields(project, stored)
  if (damage !== undefined) throw damage
  const summary = stored.summary!
  yield* admit(summary)
  const payload = yield* readTexts(source, project, stored, summary)
  return { ...summary, payload, metadata: stored.metadata }
})

/**
 * The two texts of an event's payload. Dies with `Damage` if they and the metadata are not those of the event's checksum, or not of these sizes. Without
 * sizes, because the fields are damaged, neither text may have more than `maxTextBytes`.
 */
export const readTexts = (
  source: Source,
  project: ProjectId,
  { checksums, metadata, pack, session }: Pick<StoredEvent, "checksums" | "metadata" | "pack" | "session">,
  sizes: Pick<EventSummary, "inputsBytes" | "outputBytes"> | undefined
) =>
  Effect.map(readPack(source, project, { pack, session }, sizes), (payload) => {
    // Together with their sizes, which the other checksum covers.
    const isAsSent =
      (sizes === undefined || payload.inputs.length === sizes.inputsBytes) &&
      Checksum.ofTexts(payload.inputs, payload.output, metadata) === checksums.texts
    if (!isAsSent) throw new Damage("The checksum of the event's texts differs")
    return payload
  })

/** The two texts of a pack, which are compared with nothing. Dies with `Damage` as far as it is found without. */
export const readPack = (
  source: Source,
  project: ProjectId,
  place: Pick<StoredEvent, "pack" | "session">,
  sizes: Pick<EventSummary, "inputsBytes" | "outputBytes"> | undefined
) =>
  Effect.suspend(() => {
    const unpacked: Unpacked = { chains: new Set(), copies: [] }
    return Effect.ensuring(
      assemble(source, project, place, sizes, unpacked),
      Effect.sync(() => {
        for (const chain of unpacked.chains) source.closeChain(chain)
        for (const copy of unpacked.copies) Memory.free(copy)
        unpacked.texts?.close()
      })
    )
  })

/** What a read has unpacked so far and still uses. */
interface Unpacked {
  readonly chains: Set<OpenChain.OpenChain>
  readonly copies: Array<Buffer>
  texts?: LoadedTexts
}

const assemble = Effect.fnUntraced(function* (
  source: Source,
  project: ProjectId,
  { pack, session }: Pick<StoredEvent, "pack" | "session">,
  sizes: Pick<EventSummary, "inputsBytes" | "outputBytes"> | undefined,
  unpacked: Unpacked
) {
  const own = yield* ownPack(source, project, session, pack)
  const { kind, needs } = PackHead.read(own.number, own.bytes)
  // Reads the event's own pack again, so that all packs are from one snapshot.
  const packs =
    needs.length === 0 && kind !== "continues"
      ? [own]
      : yield* source.readPacks(project, session, PackRanges.add(needs, { from: own.number, to: own.number }))
  if (packs.at(-1)?.number !== own.number) throw new Damage(`Pack ${own.number} is missing`)

  const { inputs, output, pieces, shared } = yield* open(source, own.number, packs, unpacked)
  const { inputsBytes = maxTextBytes, outputBytes = maxTextBytes } = sizes ?? {}
  const texts = source.sharedTexts(project, shared.toReversed(), {
    maxPieceBytes: Math.max(inputsBytes, outputBytes),
    totalBytes: inputsBytes + outputBytes
  })
  unpacked.texts = texts
  const text = Effect.fnUntraced(function* (span: PackContent.TemplateSpan, maxBytes: number) {
    const limits = sizes === undefined ? { maxBytes } : { expectedBytes: maxBytes, maxBytes }
    const steps = Join.joining(span, pieces, texts, limits)
    for (;;) {
      const { done, value } = steps.next()
      if (done === true) return value
      yield* texts.load(value)
    }
  })
  return { inputs: yield* text(inputs, inputsBytes), output: yield* text(output, outputBytes) }
})

const ownPack = Effect.fnUntraced(function* (
  source: Source,
  project: ProjectId,
  session: number,
  { bytes, number }: StoredEvent["pack"]
): Effect.fn.Return<Pack.StoredPack, StorageUnavailable> {
  if (bytes !== undefined) return { number, bytes }
  const [own] = yield* source.readPacks(project, session, [{ from: number, to: number }])
  if (own === undefined) throw new Damage(`Pack ${number} is missing`)
  return own
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
  source: Source,
  own: number,
  packs: ReadonlyArray<Pack.StoredPack>,
  { chains, copies }: Unpacked
): Effect.fn.Return<OpenEvent> {
  const reach = new ReachedPieces()
  const pieces = new Map<Join.PieceNumber, PackContent.TemplateSpan>()
  let texts: Pick<PackContent.Contents, "inputs" | "output"> | undefined
  let sliceBytesLeft = sliceBytes
  for (const chain of Pack.chainsOf(packs).toReversed()) {
    // A damaged pack that nothing of the event is in does not matter.
    const opened = source.openChain(chain)
    chains.add(opened)
    const { contents, damage, packs: openPacks } = opened
    const isOwn = texts === undefined
    if (isOwn && openPacks.at(-1)?.number !== own) throw damage ?? new Damage(`The chain of pack ${own} has no start`)
    texts ??= contents.at(-1)!
    const roots = isOwn ? [texts.inputs, texts.output] : []
    const isLarge = !isOwn && openPacks[0]?.isAlone === true
    const reached = reach.visit(contents, roots)
    for (const [piece, span] of reached) {
      const kept = isLarge ? copyOf(span) : span
      if (isLarge) copies.push(kept.content)
      pieces.set(piece, kept)
    }
    for (const { content } of openPacks) sliceBytesLeft -= content.length
    if (isLarge || (!isOwn && reached.size === 0)) {
      source.closeChain(opened)
      chains.delete(opened)
    }
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
