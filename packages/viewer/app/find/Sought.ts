/** The words that are looked for in the row that is shown, in lower case; empty where none are. What holds them is opened. */
import { createContext } from "preact"

export const Sought = createContext("")
