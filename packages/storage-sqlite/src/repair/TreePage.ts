/**
 * A page of a table or an index, read past SQLite: https://sqlite.org/fileformat2.html#b_tree_pages. Whatever is malformed is left out
 * and said.
 */
import type { PageFile } from "./PageFile.ts"
import * as Varint from "./Varint.ts"

/** Rows of a table are in leaves, under their rowids. Entries of an index, or of a table without rowids, are in all pages. */
export type Kind = "table" | "index"

export interface Cell {
  /** Of a table. */
  readonly rowid: bigint | undefined
  /** Bytes of the row, and those of them that are in this page. */
  readonly bytes: number
  readonly local: Buffer
  /** The first page with the rest, or 0. */
  readonly overflow: number
}

export interface TreePage {
  readonly isSound: boolean
  /** Pages below this one: with the keys up to that of the cell, and the last one with those after all cells. */
  readonly children: ReadonlyArray<number>
  readonly cells: ReadonlyArray<Cell>
}

const types = {
  table: { interior: 0x05, leaf: 0x0d },
  index: { interior: 0x02, leaf: 0x0a }
} as const

/** No row has more bytes: https://sqlite.org/limits.html#max_length */
const maxRowBytes = 1_000_000_000

/** How many bytes of a row are in its page. */
const localBytes = (kind: Kind, bytes: number, pageBytes: number): number => {
  const most = kind === "table" ? pageBytes - 35 : Math.floor(((pageBytes - 12) * 64) / 255) - 23
  if (bytes <= most) return bytes
  const least = Math.floor(((pageBytes - 12) * 32) / 255) - 23
  const rest = least + ((bytes - least) % (pageBytes - 4))
  return rest <= most ? rest : least
}

const unreadable: TreePage = { isSound: false, children: [], cells: [] }

const cellAt = (page: Buffer, start: number, kind: Kind): Cell | undefined => {
  const size = Varint.read(page, start)
  const rowid = kind === "table" ? Varint.read(page, size.end) : undefined
  const bytes = Number(size.value)
  if (bytes < 0 || bytes > maxRowBytes) return undefined
  const at = rowid?.end ?? size.end
  const count = localBytes(kind, bytes, page.length)
  const end = at + count + (count < bytes ? 4 : 0)
  if (end > page.length) return undefined
  const overflow = count < bytes ? page.readUInt32BE(at + count) : 0
  return { rowid: rowid?.value, bytes, local: page.subarray(at, at + count), overflow }
}

/** Bytes of the file's header, which is in its first page. */
export const fileHeaderBytes = 100

/** The least bytes that a cell takes. */
const minCellBytes = 4

/** With `asLeaf`, a page is taken for a leaf whatever its type is. The page's own header is at `begin`. */
export const parse = (page: Buffer, kind: Kind, { asLeaf = false, begin = 0 } = {}): TreePage => {
  const isInterior = !asLeaf && page[begin] === types[kind].interior
  const isLeaf = page[begin] === types[kind].leaf
  if (!isInterior && !isLeaf && !asLeaf) return unreadable
  const headerBytes = begin + (isInterior ? 12 : 8)
  const count = page.readUInt16BE(begin + 3)
  const pointersEnd = headerBytes + 2 * count
  const content = page.readUInt16BE(begin + 5) || 0x1_0000
  let isSound = (isInterior || isLeaf) && pointersEnd <= content && content <= page.length
  const children: Array<number> = []
  const cells: Array<Cell> = []
  let before: bigint | undefined
  for (let at = headerBytes; at < pointersEnd && at + 2 <= page.length; at += 2) {
    const start = page.readUInt16BE(at)
    if (start < headerBytes || start > page.length - minCellBytes) {
      isSound = false
      continue
    }
    // The header may be what is damaged: SQLite reads the cell.
    if (start < Math.max(pointersEnd, content)) isSound = false
    if (isInterior) children.push(page.readUInt32BE(start))
    // An interior page of a table has a rowid only.
    if (isInterior && kind === "table") continue
    const cell = cellAt(page, isInterior ? start + 4 : start, kind)
    if (cell === undefined) isSound = false
    else {
      if (cell.rowid !== undefined && before !== undefined && cell.rowid <= before) isSound = false
      before = cell.rowid
      cells.push(cell)
    }
  }
  if (isInterior) children.push(page.readUInt32BE(begin + 8))
  return { isSound, children, cells }
}

/** The pages of a row beyond its own. Ends where the row does, or before a page that is none of the file or was there already. */
export function* overflowPages(file: PageFile, { bytes, local, overflow }: Cell): Generator<number> {
  const seen = new Set<number>()
  let next = overflow
  for (let left = bytes - local.length; left > 0; left -= file.pageBytes - 4) {
    if (!file.has(next) || seen.has(next)) return
    seen.add(next)
    yield next
    next = file.read(next).readUInt32BE(0)
  }
}

export const overflowCount = (file: PageFile, { bytes, local }: Cell): number =>
  Math.ceil((bytes - local.length) / (file.pageBytes - 4))

/** All bytes of a row that has these pages, which are as many as it needs. */
export const contentOf = (file: PageFile, { bytes, local }: Cell, pages: ReadonlyArray<number>): Buffer => {
  if (pages.length === 0) return local
  const content = Buffer.allocUnsafe(bytes)
  let at = local.copy(content)
  for (const page of pages) at += file.read(page).copy(content, at, 4)
  return content
}
