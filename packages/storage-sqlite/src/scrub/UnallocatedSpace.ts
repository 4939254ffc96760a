/**
 * The unallocated space of b-tree pages, between the pointers to the cells and the cells. SQLite overwrites deleted cells with
 * zeros (`secure_delete`), but when it moves cells to other pages or within one, copies of them stay in this space, and
 * remain there when the cells are deleted. https://sqlite.org/fileformat2.html#b_tree_pages
 */

/** Bytes of the header by the type of the page: interior and leaf pages of indexes and tables. */
const headerBytes = new Map([
  [0x02, 12],
  [0x05, 12],
  [0x0a, 8],
  [0x0d, 8]
])

const minCellBytes = 4

/**
 * From this page number on, the first byte of an overflow page or of a freelist trunk, which begin with the number of a page,
 * could be the type of a b-tree page. With 4 KiB pages this is at 128 GiB.
 */
export const maxPages = 0x0200_0000

export class MalformedPage extends Error {
  override readonly name = "MalformedPage"
}

/**
 * Where the unallocated space of a page begins and ends, if it holds anything but zeros. `undefined` for a page that is not of
 * a b-tree, too. The file must have fewer than `maxPages` pages, no pointer map and no reserved space.
 */
export const find = (page: Buffer): readonly [start: number, end: number] | undefined => {
  const header = headerBytes.get(page[0]!)
  if (header === undefined) return undefined
  const cells = page.readUInt16BE(3)
  const start = header + 2 * cells
  // A page of 64 KiB without cells stores 0.
  const end = page.readUInt16BE(5) || 0x1_0000
  if (start > end || end > page.length) throw new MalformedPage("A page has its cells outside of it")
  if (zeros.compare(page, start, end, 0, end - start) === 0) return undefined
  for (let at = header; at < start; at += 2) {
    const cell = page.readUInt16BE(at)
    if (cell < end || cell > page.length - minCellBytes)
      throw new MalformedPage("A page has a cell outside of its cells")
  }
  return [start, end]
}

/** As many as the largest page has bytes. */
export const zeros = Buffer.alloc(0x1_0000)
