/**
 * Reads a commit out of the packs of a git repository (https://git-scm.com/docs/gitformat-pack), where a fresh clone has all of its
 * objects. It reads a few hundred bytes of each index, however long that is. Without it a commit would have its date where it was made,
 * and none in a clone: the same program would have two fingerprints.
 */
import type { Builtins } from "../platform/Builtins.ts"

/** A repository that is looked after has few. */
const maxPacks = 50

const maxCommitBytes = 64 * 1024

const magic = 0xff744f63

/** An index begins with the magic and the version, and then says how many names begin with each byte or one below it. */
const fanoutAt = 8
const namesAt = fanoutAt + 256 * 4

/** The kind of an object that is stored whole. A commit that is stored as a difference is not read: the newest are whole. */
const kindOfCommit = 1

type Read = (at: number, bytes: number) => Promise<DataView>

type Fs = Builtins["fs"]

const withFile = async <A>(fs: Fs, file: string, use: (read: Read) => Promise<A>): Promise<A> => {
  const handle = await fs.promises.open(file, "r")
  try {
    return await use(async (at, bytes) => {
      const { buffer, bytesRead } = await handle.read(new Uint8Array(bytes), 0, bytes, at)
      return new DataView(buffer.buffer, 0, bytesRead)
    })
  } finally {
    await handle.close()
  }
}

const hexOf = ({ buffer, byteLength }: DataView): string =>
  Array.from(new Uint8Array(buffer, 0, byteLength), (byte) => byte.toString(16).padStart(2, "0")).join("")

/** Where the pack of an index holds an object. Undefined where it does not. */
const offsetIn = async (read: Read, hash: string): Promise<number | undefined> => {
  const header = await read(0, namesAt)
  if (header.getUint32(0) !== magic || header.getUint32(4) !== 2) return undefined
  const countUpTo = (byte: number) => (byte < 0 ? 0 : header.getUint32(fanoutAt + 4 * byte))
  const first = Number.parseInt(hash.slice(0, 2), 16)
  const nameBytes = hash.length / 2
  // The names are sorted.
  let [low, high] = [countUpTo(first - 1), countUpTo(first)]
  while (low < high) {
    const middle = (low + high) >> 1
    const name = hexOf(await read(namesAt + nameBytes * middle, nameBytes))
    if (name === hash) {
      const total = countUpTo(255)
      // Behind the names and a checksum of each.
      const offsetsAt = namesAt + (nameBytes + 4) * total
      const offset = (await read(offsetsAt + 4 * middle, 4)).getUint32(0)
      if (offset < 2 ** 31) return offset
      return Number((await read(offsetsAt + 4 * total + 8 * (offset - 2 ** 31), 8)).getBigUint64(0))
    }
    if (name < hash) low = middle + 1
    else high = middle
  }
  return undefined
}

/** The object at a place of a pack, compressed, if it is a commit that is stored whole. */
const commitAt = async (read: Read, offset: number): Promise<Uint8Array | undefined> => {
  const { buffer, byteLength } = await read(offset, maxCommitBytes)
  const bytes = new Uint8Array(buffer, 0, byteLength)
  if (((bytes[0]! >> 4) & 7) !== kindOfCommit) return undefined
  // The size, whose bytes have the highest bit set but for the last one.
  return bytes.subarray(bytes.findIndex((byte) => byte < 128) + 1)
}

/** The compressed text of a commit, followed by what the pack has behind it. Undefined where no pack has it. */
export const find = async (
  { fs, path }: Pick<Builtins, "fs" | "path">,
  folder: string,
  hash: string
): Promise<Uint8Array | undefined> => {
  try {
    const indexes = (await fs.promises.readdir(folder)).filter((name) => name.endsWith(".idx"))
    for (const name of indexes.slice(0, maxPacks)) {
      const index = path.join(folder, name)
      const offset = await withFile(fs, index, (read) => offsetIn(read, hash))
      if (offset === undefined) continue
      return await withFile(fs, index.replace(/idx$/, "pack"), (read) => commitAt(read, offset))
    }
  } catch {}
  return undefined
}
