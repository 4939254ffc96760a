/** Brings what this process knows of a session up to date, from the packs that it lacks. */
import { Effect } from "effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import { ByteReader } from "../payload/format/Bytes.ts"
import * as Join from "../payload/Join.ts"
import { SessionIndex } from "../payload/SessionIndex.ts"
import * as Pack from "../payload/format/Pack.ts"
import * as PackContent from "../payload/format/PackContent.ts"
import type { PackRanges } from "../payload/format/PackRanges.ts"
import * as SharedPiece from "../payload/format/SharedPiece.ts"
import * as Template from "../payload/format/Template.ts"
import { type KnownSession, unknownSession } from "./SessionCache.ts"
import type { SessionState, Storage } from "../Storage.ts"

type Service = Storage["Service"]

/**
 * Of a longer session only the newest packs are read: so many bytes of them, compressed and not, and so many of the shared
 * texts that they name. Values that are not known for it are stored again.
 */
const maxReadBytes = 8 * 1024 * 1024
const maxContentBytes = 32 * 1024 * 1024
const maxSharedBytes = 16 * 1024 * 1024

export const readShared = (
  storage: Service,
  project: ProjectId,
  names: ReadonlyArray<Uint8Array>,
  mostBytes?: number
) =>
  names.length === 0
    ? Effect.succeed<Join.SharedTexts>(new Map())
    : Effect.map(
        storage.readShared(project, names, mostBytes),
        (found): Join.SharedTexts =>
          new Map(found.map(({ bytes, sha256 }) => [Join.keyOf(sha256), SharedPiece.textOf(bytes)] as const))
      )

/** The session as it is now, and what there is to know of it, of which `known` may be a part. */
export const refresh = Effect.fnUntraced(function* (
  storage: Service,
  project: ProjectId,
  session: SessionId,
  known: KnownSession
): Effect.fn.Return<KnownSession, StorageUnavailable> {
  const state = yield* storage.getSession(project, session)
  if (state === undefined) return unknownSession()
  const isSame = known.state?.number === state.number && known.state.generation === state.generation
  const sessionIndex = isSame ? known.index : new SessionIndex()
  if (sessionIndex.packs < state.packs) yield* read(storage, project, state, sessionIndex)
  return { ...known, state: { number: state.number, generation: state.generation }, index: sessionIndex }
})

const read = Effect.fnUntraced(function* (
  storage: Service,
  project: ProjectId,
  state: SessionState,
  sessionIndex: SessionIndex
) {
  // What was appended may continue the last chain, which is opened from its start.
  const from = sessionIndex.chain?.start ?? sessionIndex.packs + 1
  const packs = yield* readOpen(storage, project, state.number, [{ from, to: state.packs }], maxReadBytes)
  const contents = packs
    .filter(({ number }) => number > sessionIndex.packs)
    .map(({ content }) => PackContent.read(content))
  const older = sessionIndex
    .dependenciesOf(contents)
    .flatMap(({ from: start, to }) => (start < from ? [{ from: start, to: Math.min(to, from - 1) }] : []))
  const rests = older.length === 0 ? [] : yield* readOpen(storage, project, state.number, older)
  const all = [...rests, ...packs]
  const texts = yield* readShared(storage, project, sharedIn(all).toReversed(), maxSharedBytes)
  sessionIndex.read(all, texts, state)
})

const readOpen = (storage: Service, project: ProjectId, session: number, ranges: PackRanges, newestBytes?: number) =>
  Effect.map(storage.readPacks(project, session, ranges, newestBytes), (packs) => {
    let left = maxContentBytes
    const newest = packs.findLastIndex((pack) => (left -= Pack.readHead(pack.number, pack.bytes).contentLength) < 0)
    return Pack.open(packs.slice(newest + 1))
  })

/** The names of shared pieces that stand in larger pieces: their texts are needed to know those. */
const sharedIn = (packs: ReadonlyArray<Pack.OpenPack>): ReadonlyArray<Buffer> => {
  const names = new Map<string, Buffer>()
  const visitor: Template.TemplateVisitor = {
    part: () => {},
    history: () => {},
    shared: (sha256) => names.set(Join.keyOf(sha256), sha256)
  }
  for (const { content } of packs) {
    const { history, parts } = PackContent.read(content)
    for (const { start } of [...history, ...parts]) Template.read(new ByteReader(content, start), visitor)
  }
  return Array.from(names.values())
}
