/** Compares the messages of two sessions or two calls, as they are read by the typed client. */
export { compare, type Compared, countsOf, type Said, withoutInstructions } from "@tachograph/formats/normal/Comparison"
