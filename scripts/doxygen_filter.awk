# A header as Doxygen reads it (docs/Doxyfile): the comment at its head, drawings included, describes the file as it stands; in
# other comments < and \ are themselves.
NR == 1 && /^\/\/($|[^\/])/ { head = 1; print "/** @file"; print "@verbatim" }
head && !/^\/\// { head = 0; print "@endverbatim */" }
head { print substr($0, 4); next }
(at = index($0, "///")) {
  if (substr($0, at + 3, 1) == "<") at += 1
  text = substr($0, at + 3)
  gsub(/[<\\]/, "\\\\&", text)
  $0 = substr($0, 1, at + 2) text
}
{ print }
