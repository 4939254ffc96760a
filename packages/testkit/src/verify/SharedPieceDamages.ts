/** Damage to shared pieces and to what says which sessions own them. */
import { first, flipped, hex, nowhere, ofSession, plus, remove, type RowDamage, update } from "./RowDamage.ts"
import type { Row, Tables } from "./Rows.ts"

/** A shared piece that several sessions of the project own. */
const sharedPiece = (tables: Tables): Row => {
  const owners = (row: Row) =>
    tables.shared_piece_owners.filter(
      (each) => hex(each["sha256"]) === hex(row["sha256"]) && each["project_id"] === row["project_id"]
    )
  return first(tables.shared_pieces, (row) => owners(row).length > 2)
}

export const sharedPieceDamages: ReadonlyArray<RowDamage> = [
  {
    name: "one bit of a shared piece differs",
    change: (tables) => [
      update("shared_pieces", sharedPiece(tables), { piece: flipped(sharedPiece(tables)["piece"]) })
    ],
    problems: ["event-damaged", "shared-piece-damaged"],
    lost: "texts"
  },
  {
    name: "the size of a shared piece differs",
    change: (tables) => [update("shared_pieces", sharedPiece(tables), { size: plus(sharedPiece(tables)["size"], 1) })],
    problems: ["counter-wrong", "shared-piece-damaged"]
  },
  {
    name: "the name of a shared piece differs",
    change: (tables) => [
      update("shared_pieces", sharedPiece(tables), { sha256: flipped(sharedPiece(tables)["sha256"]) })
    ],
    problems: ["event-damaged", "shared-piece-damaged", "shared-piece-missing", "shared-piece-without-owner"],
    lost: "texts"
  },
  {
    name: "a shared piece is missing",
    change: (tables) => [remove("shared_pieces", sharedPiece(tables))],
    problems: ["counter-wrong", "event-damaged", "shared-piece-missing"],
    lost: "texts"
  },
  {
    name: "a shared piece has no owner",
    change: (tables) =>
      tables.shared_piece_owners
        .filter((row) => hex(row["sha256"]) === hex(sharedPiece(tables)["sha256"]))
        .map((row) => remove("shared_piece_owners", row)),
    problems: ["shared-piece-not-owned", "shared-piece-without-owner"]
  },
  {
    name: "a session does not own a shared piece that it refers to",
    change: (tables) => {
      const name = hex(sharedPiece(tables)["sha256"])
      const owners = ofSession(tables, "shared_piece_owners", "whole")
      return [
        remove(
          "shared_piece_owners",
          first(owners, (row) => hex(row["sha256"]) === name)
        )
      ]
    },
    problems: ["shared-piece-not-owned"]
  },
  {
    name: "a session owns a shared piece that it does not refer to",
    change: (tables) => {
      const owned = ofSession(tables, "shared_piece_owners", "whole")
      const names = new Set(owned.map((row) => hex(row["sha256"])))
      const { project_id } = owned[0]!
      const { sha256 } = first(
        tables.shared_pieces,
        (row) => row["project_id"] === project_id && !names.has(hex(row["sha256"]))
      )
      return [{ table: "shared_piece_owners", from: undefined, to: { ...owned[0]!, sha256: sha256! } }]
    },
    problems: ["shared-piece-unused"]
  },
  {
    name: "a session that does not exist owns a shared piece",
    change: (tables) => {
      const [row] = ofSession(tables, "shared_piece_owners", "whole")
      return [{ table: "shared_piece_owners", from: undefined, to: { ...row!, session_number: nowhere } }]
    },
    problems: ["session-missing"]
  }
]
