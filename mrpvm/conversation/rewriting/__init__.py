"""Query rewriting: what a message means in the light of what was said before it."""

from mrpvm.conversation.rewriting.rewrite import FOLLOWS_UP as FOLLOWS_UP
from mrpvm.conversation.rewriting.rewrite import Rewriting as Rewriting
from mrpvm.conversation.rewriting.rewrite import RewritingRecord as RewritingRecord
from mrpvm.conversation.rewriting.rewrite import need_of as need_of
from mrpvm.conversation.rewriting.rewrite import rewrite as rewrite
from mrpvm.conversation.rewriting.said import before_repeats as before_repeats
from mrpvm.conversation.rewriting.said import spoken as spoken
from mrpvm.conversation.rewriting.sentence import subject_of as subject_of
from mrpvm.conversation.rewriting.sentence import term_of as term_of
from mrpvm.conversation.rewriting.signals import needs_rewrite as needs_rewrite
from mrpvm.conversation.rewriting.signals import refers_back as refers_back
