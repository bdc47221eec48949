// What browsers know and the compiler's library does not yet.
interface RequestInit {
  duplex?: 'half';
}
