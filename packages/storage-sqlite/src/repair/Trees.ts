/** Which page belongs to which table or index, and which of these are malformed. */
import type { PageFile } from "./PageFile.ts"
import * as Row from "./Row.ts"
import * as TreePage from "./TreePage.ts"

export interface Tree {
  readonly kind: TreePage.Kind
  readonly root: number
}

const nobody = 0
/** Of the list of free pages. */
const free = 1
const several = 2
const firstTree = 3

/** No tree is as deep. */
const maxDepth = 40

export class Trees<T extends Tree> {
  readonly #file: PageFile
  readonly #trees: ReadonlyArray<T>
  /** By the number of the page: a byte each. */
  readonly #owners: Uint8Array
  readonly malformed = new Set<T>()

  /** Reads the file whole, and each page once or twice. */
  constructor(file: PageFile, trees: ReadonlyArray<T>) {
    if (trees.length > 255 - firstTree) throw new Error("The file has too many tables and indexes")
    this.#file = file
    this.#trees = trees
    this.#owners = new Uint8Array(file.pages + 1)
    for (const [index, tree] of trees.entries()) this.#walk(tree, firstTree + index, tree.root, 0)
    // The list may be what is damaged.
    for (const page of file.free()) if (this.#owners[page] === nobody) this.#owners[page] = free
  }

  /** Returns false if the page belongs to another tree, too, or was come across before. */
  #own(page: number, tree: T, owner: number): boolean {
    const other = this.#owners[page]!
    if (other === nobody) {
      this.#owners[page] = owner
      return true
    }
    this.malformed.add(tree)
    if (other >= firstTree) this.malformed.add(this.#trees[other - firstTree]!)
    this.#owners[page] = several
    return false
  }

  /** The first page is the root of the schema. */
  #has(tree: T, page: number): boolean {
    return this.#file.has(page) || (page === 1 && tree.root === 1)
  }

  #parse(tree: T, page: number): TreePage.TreePage {
    const begin = page === 1 ? TreePage.fileHeaderBytes : 0
    return TreePage.parse(this.#file.read(page), tree.kind, { begin })
  }

  #walk(tree: T, owner: number, page: number, depth: number): void {
    if (!this.#has(tree, page) || depth > maxDepth) {
      this.malformed.add(tree)
      return
    }
    if (!this.#own(page, tree, owner)) return
    const { cells, children, isSound } = this.#parse(tree, page)
    if (!isSound) {
      // What it leads to may be pages of others.
      this.malformed.add(tree)
      return
    }
    for (const cell of cells) {
      if (!Row.isSound(cell.local, cell.bytes)) this.malformed.add(tree)
      let left = TreePage.overflowCount(this.#file, cell)
      for (const each of TreePage.overflowPages(this.#file, cell)) {
        if (!this.#own(each, tree, owner)) break
        left--
      }
      if (left > 0) this.malformed.add(tree)
    }
    for (const child of children) this.#walk(tree, owner, child, depth + 1)
  }

  /**
   * Pages that a tree leads to, and whether the tree alone does: where it is malformed, it may lead to those of others. Without
   * pages that only another tree has.
   */
  *pagesOf(tree: T): Generator<{ readonly page: number; readonly isOwn: boolean }> {
    const owner = this.#ownerOf(tree)
    const seen = new Set<number>()
    const pending = [tree.root]
    while (pending.length > 0) {
      const page = pending.pop()!
      if (!this.#mayHave(owner, page) || seen.has(page)) continue
      seen.add(page)
      yield { page, isOwn: this.#owners[page] === owner }
      const { children } = this.#parse(tree, page)
      // Those on the left are taken first.
      for (const child of children.toReversed()) pending.push(child)
    }
  }

  /** The pages of a row beyond its own, and whether others lead to them, too. Undefined if some are not there. */
  overflowOf(
    tree: T,
    cell: TreePage.Cell
  ): { readonly pages: ReadonlyArray<number>; readonly isShared: boolean } | undefined {
    const owner = this.#ownerOf(tree)
    const pages: Array<number> = []
    let isShared = false
    for (const page of TreePage.overflowPages(this.#file, cell)) {
      const other = this.#owners[page]!
      isShared ||= other !== owner && other >= several
      pages.push(page)
    }
    return pages.length === TreePage.overflowCount(this.#file, cell) ? { pages, isShared } : undefined
  }

  #ownerOf(tree: T): number {
    return firstTree + this.#trees.indexOf(tree)
  }

  #mayHave(owner: number, page: number): boolean {
    const found = this.#file.has(page) ? this.#owners[page]! : undefined
    return found !== undefined && (found === owner || found <= several)
  }

  /** Pages that no table, no index and no list leads to. */
  *lost(): Generator<number> {
    for (let page = 2; page <= this.#file.pages; page++) {
      if (this.#owners[page] === nobody && this.#file.has(page)) yield page
    }
  }
}
